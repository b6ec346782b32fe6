/** Does the ledger of a crawl agree with what the small web saw? */

import { join } from 'node:path';
import { readLedger, type ReadRequest } from '../../src/ledger/read.ts';
import { urlOf, type Seen } from '../../src/world/seen.ts';

export const ledgerOf = (...dirs: readonly string[]): ReadRequest[] =>
  dirs.flatMap((dir) => [
    ...readLedger({
      dir: join(dir, 'ledger'),
      onDamage: (says) => {
        throw new Error(says);
      },
    }),
  ]);

export interface LedgerCheck {
  readonly noted: number;
  /** Noted, but without a response: the server may have seen such a request or not. */
  readonly doubtful: number;
  readonly wrong: readonly string[];
}

/** Every request that was seen is noted once, and every request that was noted with a response was seen. */
export const compareWith = (notes: readonly ReadRequest[], requests: readonly Seen[]): LedgerCheck => {
  const seen = Map.groupBy(requests, urlOf);
  const noted = Map.groupBy(notes, ({ request }) => request.url);
  const wrong: string[] = [];
  let doubtful = 0;
  for (const url of new Set([...seen.keys(), ...noted.keys()])) {
    const count = seen.get(url)?.length ?? 0;
    const all = noted.get(url) ?? [];
    const answered = all.filter(({ end }) => end?.answeredMs != null).length;
    doubtful += all.length - answered;
    if (count < answered || count > all.length)
      wrong.push(`${url} was seen ${count} times, and noted ${all.length} times, ${answered} of them with a response`);
  }
  return { noted: notes.length, doubtful, wrong };
};
