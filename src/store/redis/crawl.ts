/** A crawl in Redis, opened to look at it, check it, or move it. */

import type { SharedCrawl, SharedPlace } from '../shared-crawl.ts';
import { openLook } from './look.ts';
import { keepNote, note } from './notes.ts';

const later = (): never => {
  throw new Error('not yet written');
};

export const openRedisCrawl = async (place: SharedPlace): Promise<SharedCrawl> => {
  const look = await openLook(place);
  return {
    note: (name) => note(look, name),
    keepNote: (name, text) => keepNote(look, name, text),
    reader: later,
    survey: later,
    pieces: later,
    beginMove: later,
    take: later,
    endMove: later,
    close: async () => look.wire.close(),
  };
};
