/** One crawl as it is seen from the directories of several of its members. */

import { StoreFault } from '../contract/fault.ts';
import type { PageSlice, StoredCrawl } from '../contract/stored-crawl.ts';
import type { LinkView, PageFilter } from '../contract/views.ts';
import type { Found, WalkPart } from '../contract/walk.ts';

/**
 * What the store has is the same from everywhere and is asked of the first. With `isRowsByMember` each has rows of its
 * own: they come one member after the other, in the order of the members.
 */
export const joinCrawls = (crawls: readonly StoredCrawl[], isRowsByMember: boolean): StoredCrawl => {
  const first = crawls[0]!;
  if (crawls.length === 1) return first;
  const withRows = isRowsByMember ? crawls : [first];
  return {
    census: () => first.census(),
    link: (url, site) => findLink(withRows, url, site),
    sites: (query) => first.sites(query),
    robots: (origins) => first.robots(origins),
    pagesAfter: createPagesAfter(withRows),
    note: (name) => first.note(name),
    keepNote: (name, text) => first.keepNote(name, text),
    journal: (after) => first.journal(after),
    write: (entry) => first.write(entry),
    members: () => first.members(),
    walk: (parts) => walkAll(crawls, withRows, parts),
    fill: async () => {
      throw new StoreFault('several directories cannot be filled as one', 'fill a crawl from one directory');
    },
    close: async () => void (await Promise.all(crawls.map((crawl) => crawl.close()))),
  };
};

/** A member without the row of a settled link says that another has settled it, or, of a long queue, nothing. */
const findLink = async (crawls: readonly StoredCrawl[], url: string, site: string): Promise<LinkView> => {
  let best: LinkView | null = null;
  for (const crawl of crawls) {
    const view = await crawl.link(url, site);
    if (view.page || view.open) return view;
    if (best === null || best.state === 'unknown') best = view;
  }
  return best!;
};

/**
 * Rows are numbered through, from the ends that were there at first; what a member settles after that is given if it
 * comes along, and not waited for.
 */
const createPagesAfter = (crawls: readonly StoredCrawl[]): StoredCrawl['pagesAfter'] => {
  if (crawls.length === 1) return (row, filter) => crawls[0]!.pagesAfter(row, filter);
  let known: Promise<readonly number[]> | null = null;
  const findEnds = (): Promise<readonly number[]> =>
    Promise.all(crawls.map(async (crawl) => (await crawl.pagesAfter(0, { limit: 0 })).end));
  return async (row: number, filter: PageFilter): Promise<PageSlice> => {
    const ends = await (known ??= findEnds());
    const total = ends.reduce((sum, end) => sum + end, 0);
    let base = 0;
    for (const [i, end] of ends.entries()) {
      if (row < base + end) {
        const slice = await crawls[i]!.pagesAfter(row - base, filter);
        return { pages: slice.pages, row: base + Math.min(slice.row, end), end: total };
      }
      base += end;
    }
    return { pages: [], row, end: total };
  };
};

/** Far above what a member can settle: the rows of the nth member begin at n times this number. */
export const ROWS_APART = 2 ** 40;

/** The tally is the first one's, but for members that are among these: nothing of theirs is elsewhere. */
async function* walkAll(
  crawls: readonly StoredCrawl[],
  withRows: readonly StoredCrawl[],
  parts: readonly WalkPart[],
): AsyncGenerator<Found, void, undefined> {
  for (const part of parts) {
    if (part === 'self') yield* eachOnce(crawls);
    else if (part === 'pages') for (const [i, crawl] of withRows.entries()) yield* pagesOf(crawl, i * ROWS_APART);
    else if (part === 'tally') yield await tallyOf(crawls);
    else yield* crawls[0]!.walk([part]);
  }
}

/** All see the same store, and each its own rows. */
async function* eachOnce(crawls: readonly StoredCrawl[]): AsyncGenerator<Found, void, undefined> {
  const said = new Set<string>();
  for (const crawl of crawls) {
    for await (const found of crawl.walk(['self'])) {
      if (found.kind === 'wrong' && said.has(found.says)) continue;
      if (found.kind === 'wrong') said.add(found.says);
      yield found;
    }
  }
}

async function* pagesOf(crawl: StoredCrawl, base: number): AsyncGenerator<Found, void, undefined> {
  for await (const found of crawl.walk(['pages']))
    yield found.kind === 'pages' && base > 0
      ? { kind: 'pages', pages: found.pages.map((page) => ({ ...page, row: base + page.row })) }
      : found;
}

const tallyOf = async (crawls: readonly StoredCrawl[]): Promise<Extract<Found, { kind: 'tally' }>> => {
  const tallies: Extract<Found, { kind: 'tally' }>[] = [];
  for (const crawl of crawls)
    for await (const found of crawl.walk(['tally'])) if (found.kind === 'tally') tallies.push(found);
  // Each names all others that have settled something: those whom everybody names are not among these.
  const [first, ...rest] = tallies;
  return {
    ...first!,
    elsewhere: first!.elsewhere.filter((name) => rest.every(({ elsewhere }) => elsewhere.includes(name))),
  };
};
