/** Everything that lies in a crawl in memory, in pieces. */

import type { Found, WalkPart } from '../../contract/walk.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { rulesMissing } from '../rules-missing.ts';
import { siteState, wholeRobots, type MemoryState, type Site } from './state.ts';

const LINKS_AT_ONCE = 500;
const PAGES_AT_ONCE = 200;

export async function* walk(state: MemoryState, parts: readonly WalkPart[]): AsyncGenerator<Found, void, undefined> {
  for (const part of parts) yield* PARTS[part](state);
}

const PARTS: Readonly<Record<WalkPart, (state: MemoryState) => Iterable<Found>>> = {
  // Nothing is written down twice here, so nothing can disagree with itself.
  self: () => [],
  seen: ({ seen }) => [{ kind: 'seen', prints: BigUint64Array.from([...seen].map(fingerprint)) }],
  pages: ({ pages }) =>
    inPieces(pages, PAGES_AT_ONCE, (some, from) => ({
      kind: 'pages',
      pages: some.map((page, i) => ({ ...page, row: from + i + 1, mine: true })),
    })),
  sites: ({ sites }) => [...sites.values()].flatMap(siteWithQueue),
  robots: robotsPieces,
  tally: ({ forgotten, archivedBytes, end, marks, notes, journal }) => [
    { kind: 'tally', forgotten, archivedBytes, archive: end, marks, notes, journal, elsewhere: [], dead: [] },
  ],
};

function* robotsPieces(state: MemoryState): Generator<Found> {
  for (const record of state.robots.values()) {
    const whole = wholeRobots(state, record);
    yield whole ? { kind: 'robots', records: [whole] } : rulesMissing(record.origin);
  }
}

const siteWithQueue = (site: Site): Found[] => [
  {
    kind: 'site',
    site: site.name,
    state: siteState(site),
    shard: site.shard,
    waiting: site.queue.length,
    pages: site.pages,
    pace: site.pace,
    leased: site.lease && { link: site.lease.link, tries: site.lease.tries },
  },
  ...inPieces(site.queue, LINKS_AT_ONCE, (links): Found => ({ kind: 'queue', site: site.name, links })),
];

const inPieces = <T>(
  all: readonly T[],
  atOnce: number,
  pieceOf: (some: readonly T[], from: number) => Found,
): Found[] =>
  Array.from({ length: Math.ceil(all.length / atOnce) }, (_, i) =>
    pieceOf(all.slice(i * atOnce, (i + 1) * atOnce), i * atOnce),
  );
