/** A crawl in Redis, opened to look at it, check it, or move it. */

import type { SharedCrawl, SharedPlace } from '../shared-crawl.ts';
import { openLook } from './look.ts';
import { createMove } from './move.ts';
import { keepNote, note } from './notes.ts';
import { piecesOf } from './pieces.ts';
import { readerOf } from './reader.ts';
import { surveyOf } from './survey.ts';

export const openRedisCrawl = async (place: SharedPlace): Promise<SharedCrawl> => {
  const look = await openLook(place);
  const move = createMove(look);
  return {
    note: (name) => note(look, name),
    keepNote: (name, text) => keepNote(look, name, text),
    reader: (rowsPath) => readerOf(look, rowsPath),
    survey: (rows, onProgress) => surveyOf(look, rows, onProgress),
    pieces: (rows) => piecesOf(look, rows),
    beginMove: () => move.begin(),
    take: (pieces, rows) => move.take(pieces, rows),
    endMove: (rows) => move.end(rows),
    close: async () => {
      move.close();
      look.wire.close();
    },
  };
};
