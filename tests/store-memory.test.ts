/** The memory store keeps both contracts of a store: it is the reference for all others. */

import type { Clock } from '../src/lib/clock.ts';
import { openMemoryCrawl } from '../src/store/memory/crawl.ts';
import { createMemoryState, type MemoryState, type Site } from '../src/store/memory/state.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { storeContract } from './contract/store-contract.ts';
import { membersContract } from './contract/store-members.ts';
import { link } from './contract/store-scene.ts';
import { storedCrawlContract, type StoredPlace } from './contract/stored-crawl.ts';

storeContract(
  'memory',
  async ({ clock, archive, from }) => {
    const store = openMemoryStore({ clock, archive, ...(from === null ? {} : { state: from as MemoryState }) });
    return { store, pages: () => store.pages(), kill: () => store.state };
  },
  { leasesRunOut: true },
);

membersContract('memory', () => {
  const state = createMemoryState();
  const clocks: Clock[] = [];
  let servers = 1;
  return {
    open: async (name, { clock, archive, dead, about }) => {
      clocks.push(clock);
      const member = { name, server: () => `server ${servers}`, dead, about };
      return openMemoryStore({ clock, archive, state, member });
    },
    look: async () => openMemoryCrawl({ clock: clocks[0]!, state }),
    save: async () => {
      const saved = structuredClone(state);
      return async () => {
        Object.assign(state, structuredClone(saved));
        servers++;
      };
    },
  };
});

interface MemoryPlace extends StoredPlace {
  readonly state: MemoryState;
}

const siteIn = ({ state }: MemoryPlace, name: string): { -readonly [K in keyof Site]: Site[K] } =>
  state.sites.get(name)!;

storedCrawlContract<MemoryPlace>(
  'memory',
  ({ clock, archive }) => {
    const state = createMemoryState();
    return {
      state,
      work: async () => openMemoryStore({ clock, archive, state }),
      look: async () => openMemoryCrawl({ clock, state }),
    };
  },
  {
    setPages: (place, site, count) => (siteIn(place, site).pages = count),
    setShard: (place, site, shard) => (siteIn(place, site).shard = shard),
    loseLink: (place, site, lost) => {
      const { queue } = siteIn(place, site);
      queue.splice(
        queue.findIndex(({ link: { url } }) => url === lost),
        1,
      );
    },
    addLink: (place, site, url) =>
      siteIn(place, site).queue.push({ link: { ...link(url.slice('https://'.length)), site }, tries: 0 }),
    forgetUrl: ({ state }, url) => state.seen.delete(url),
    addUrl: ({ state }, url) => state.seen.add(url),
    losePage: ({ state: { pages } }, lost) =>
      pages.splice(
        pages.findIndex(({ url }) => url === lost),
        1,
      ),
    repeatPage: ({ state: { pages } }, repeated) => pages.push(pages.find(({ url }) => url === repeated)!),
    addToPages: ({ state }, counter, by) => {
      if (counter === 'pages') state.answered += by;
      else {
        const outcome = counter === 'settled fetched' ? 'fetched' : 'gave-up';
        state.settled[outcome] = (state.settled[outcome] ?? 0) + by;
      }
    },
  },
);
