/** The journal of the crawl: numbered changes that hold for all its members. */

import type { Entry, NewEntry } from '../../contract/journal.ts';
import { reading, type Step, type Wire } from './wire.ts';

/** Entries read in one go; one may be a long list. */
const ENTRIES_AT_ONCE = 100;

/** An entry as it lies in the list: id, moment, text. */
export const writeEntryText = ({ id, at, text }: Entry): string => JSON.stringify([id, String(at), text]);

export const readEntries = async (wire: Wire, after: number, most = ENTRIES_AT_ONCE): Promise<Entry[]> => {
  const [texts] = (await wire.all([
    reading(null, [['LRANGE', 'journal', after, most === Infinity ? -1 : after + most - 1]]),
  ])) as [[string[]]];
  return texts[0].map((written, i) => {
    const [id, at, text] = JSON.parse(written) as [string, string, string];
    return { number: after + i + 1, id, at: Number(at), text };
  });
};

const writing = ({ id, text }: NewEntry): Step => ({ name: 'write', shard: null, args: [id, text] });

/** May be repeated: one that is there stays as it is. Gives its number. */
export const writeEntry = async (wire: Wire, entry: NewEntry): Promise<number> =>
  (await wire.all([writing(entry)]))[0] as number;
