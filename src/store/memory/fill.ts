/** A crawl on its way into memory: apart from the place where it will be, until it is whole. */

import { StoreFault } from '../../contract/fault.ts';
import type { Filling } from '../../contract/stored-crawl.ts';
import type { FoundSite, Piece } from '../../contract/walk.ts';
import { shardOf } from '../../url/shard.ts';
import { addPage, createMemoryState, keepRobots, type MemoryState, type Site } from './state.ts';

/** Throws a StoreFault when a whole crawl is there, also one that became whole meanwhile. */
export const fill = (place: MemoryState): Filling => {
  checkEmpty(place);
  const filled = createMemoryState();
  return {
    take: async (pieces) => {
      for (const piece of pieces) takeOne(filled, piece);
    },
    end: async () => {
      checkEmpty(place);
      Object.assign(place, filled, { isMade: true, changes: 1 });
    },
    close: async () => {},
  };
};

const checkEmpty = ({ isMade }: MemoryState): void => {
  if (isMade) throw new StoreFault('the memory has a crawl already', 'choose another place');
};

const takeOne = (state: MemoryState, piece: Piece): void => {
  switch (piece.kind) {
    case 'site':
      state.sites.set(piece.site, siteFrom(piece));
      return;
    case 'queue':
      siteNamed(state, piece.site).queue.push(...piece.links);
      for (const { link } of piece.links) state.seen.add(link.url);
      return;
    case 'robots':
      for (const record of piece.records) keepRobots(state, record);
      return;
    case 'pages':
      for (const { row: _, mine: __, ...page } of piece.pages) {
        addPage(state, page);
        state.seen.add(page.url);
      }
      return;
    case 'tally': {
      const { forgotten, archivedBytes, archive, marks, notes, journal } = piece;
      Object.assign(state, { forgotten, archivedBytes, end: archive, marks: { ...marks }, notes: { ...notes } });
      state.journal.push(...journal);
      return;
    }
    default:
      piece satisfies never;
  }
};

/** Whether it waits or is idle follows from the links that come. */
const siteFrom = ({ site, state, pages, pace }: FoundSite): Site => ({
  name: site,
  shard: shardOf(site),
  setAside: state === 'parked' || state === 'held' ? state : null,
  pace,
  pages,
  queue: [],
  lease: null,
});

const siteNamed = (state: MemoryState, name: string): Site => {
  const site = state.sites.get(name);
  if (!site) throw new StoreFault(`links of "${name}" came, but not the site`, 'report this as a bug');
  return site;
};
