/** Every link of a crawl with its state, one site at a time: what tests compare a crawl with. */

import { numbersOf } from '../../src/lib/long-queue.ts';
import type { Book } from '../../src/store/sqlite/book.ts';
import type { Waiting } from '../../src/store/link-text.ts';
import { packsOf, READ_IN_BLOCK } from '../../src/store/sqlite/line.ts';
import { SITE_HELD, SITE_PARKED } from '../../src/store/sqlite/schema.ts';

export type LinkState = 'waiting' | 'leased' | 'parked' | 'held';

export interface KnownLink {
  readonly url: string;
  readonly state: LinkState;
}

/** The links of one site that are not settled: its line, block by block, and the one under visit. */
export function* unsettledLinks(sql: Book['sql'], site: SiteLine): Generator<KnownLink> {
  const state = stateOf(site.state);
  if (site.leased !== null) yield { url: (JSON.parse(site.leased) as Waiting).link.url, state: 'leased' };
  let from = site.head_at;
  for (const id of numbersOf(site.line, packsOf({ sql }))) {
    const block = sql('SELECT read_to, links FROM block WHERE id = ?').get(id) as
      | { read_to: number; links: string }
      | undefined;
    if (!block) throw new Error(`the line of site "${site.name}" is broken: block ${id} is missing`);
    for (const line of block.links.slice(from === READ_IN_BLOCK ? block.read_to : from).split('\n'))
      if (line !== '') yield { url: line.slice(line.lastIndexOf(' ') + 1), state };
    from = READ_IN_BLOCK;
  }
}

export interface SiteLine {
  readonly id: number;
  readonly name: string;
  readonly state: number;
  readonly waiting: number;
  readonly pages: number;
  readonly leased: string | null;
  readonly line: string;
  readonly head_at: number;
}

export const SITE_LINE_SQL = 'SELECT id, name, state, waiting, pages, leased, line, head_at FROM site';

const stateOf = (state: number): LinkState => {
  switch (state) {
    case SITE_PARKED:
      return 'parked';
    case SITE_HELD:
      return 'held';
    default: // leased sites too: the leased link itself is in a column of its own
      return 'waiting';
  }
};
