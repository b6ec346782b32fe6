/** Every link of a crawl with its state, one site at a time: what a check of the whole crawl reads. */

import type { Book } from './book.ts';
import type { Waiting } from './line.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED } from './schema.ts';

export type LinkState = 'waiting' | 'leased' | 'parked' | 'held';

export interface KnownLink {
  readonly url: string;
  readonly state: LinkState;
}

/** The links of one site that are not settled: its line, block by block, and the one under visit. */
export function* unsettledLinks(sql: Book['sql'], site: SiteLine): Generator<KnownLink> {
  const state = stateOf(site.state);
  if (site.leased !== null) yield { url: (JSON.parse(site.leased) as Waiting).link.url, state: 'leased' };
  for (let id = site.head, from = site.head_at; id !== null; ) {
    const block = sql('SELECT next, read_to, links FROM block WHERE id = ?').get(id) as { next: number | null; read_to: number; links: string } | undefined;
    if (!block) throw new Error(`the line of site "${site.name}" is broken: block ${id} is missing`);
    const start = id === site.head ? from : block.read_to;
    for (const line of block.links.slice(start).split('\n')) if (line !== '') yield { url: line.slice(line.lastIndexOf(' ') + 1), state };
    id = block.next;
    from = 0;
  }
}

export interface SiteLine {
  readonly id: number;
  readonly name: string;
  readonly state: number;
  readonly waiting: number;
  readonly pages: number;
  readonly leased: string | null;
  readonly head: number | null;
  readonly head_at: number;
}

export const SITE_LINE_SQL = 'SELECT id, name, state, waiting, pages, leased, head, head_at FROM site';

const stateOf = (state: number): LinkState => {
  switch (state) {
    case SITE_PARKED: return 'parked';
    case SITE_HELD: return 'held';
    case SITE_LEASED:
    default: return 'waiting';
  }
};
