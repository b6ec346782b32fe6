/** Puts a crawl right: settled pages wait again, in one transaction for some of them. */

import type { Mending } from '../../contract/mending.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { takenBack } from '../shared/taken-back.ts';
import { writeWaiting } from '../waiting-text.ts';
import type { Connection } from './connection.ts';
import { arrayOf, textsOf } from './values.ts';

const END = 'UPDATE @crawl.member SET archive_file = $2, archive_bytes = $3 WHERE name = $1';

/** All rows are in the database: nothing of a link can be lost but its records. */
export const mendCrawl = ({ rows, options }: Connection): Mending => ({
  takeBack: async (pages) => {
    await rows('SELECT @crawl.take_back($1, $2, $3)', [
      arrayOf(pages.map(({ row }) => row)),
      textsOf(pages.map((page) => writeWaiting(takenBack(page)))),
      arrayOf(pages.map(({ outcome }) => (outcome in ANSWERED_OUTCOMES ? 1 : 0))),
    ]);
  },
  endArchive: async ({ file, bytes }) => void (await rows(END, [options.member, file, bytes])),
  lose: async (member) => void (await rows(END, [member, '', 0])),
  dropRows: async () => {},
  recount: async () => {},
  forget: async () => 0,
});
