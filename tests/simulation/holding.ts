/** What a store holds at the end of a run, whichever store it is. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/contract/store.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { DeadRecords } from '../../src/contract/walk.ts';
import { survey } from '../../src/care/verify/survey.ts';
import type { Census } from '../../src/model/census.ts';
import type { WarcPlace, PageRow } from '../../src/model/page.ts';
import { CRAWL_DB } from '../../src/store/files.ts';
import { openMemoryCrawl } from '../../src/store/memory/crawl.ts';
import { createMemoryState } from '../../src/store/memory/state.ts';
import { openMemoryStore } from '../../src/store/memory/store.ts';
import { openSqliteCrawl } from '../../src/store/sqlite/crawl.ts';
import { openSqlite, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { createFaultyArchive, type FaultyArchive } from './faulty.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface Holding {
  readonly settled: readonly PageRow[];
  readonly unsettled: readonly { readonly url: string; readonly state: string }[];
  /** What a survey finds wrong. */
  readonly wrong: readonly string[];
}

/** A crawl's memory that outlives its processes. */
export interface Durable {
  /** As a process that starts in this directory would: what its former process had leased is freed. */
  open(member: string): Store | SqliteStore | Promise<Store>;
  /** That a process with this directory appends to. */
  archive(member: string): FaultyArchive;
  /** All records that belong to a page. */
  records(): string[];
  recordAt(place: WarcPlace): string;
  /** Opens it once more everywhere, so that what the dead left is put right. */
  rest(): Promise<Census>;
  holding(): Promise<Holding>;
  /** Remembers what it holds. What it gives takes it back to that, on a server that is another one. */
  save?(dice: (below: number) => number): Promise<() => Promise<void>>;
  remove(): void;
}

/** All that a walk meets and a survey says; the crawl is closed afterwards. */
export const holdingOf = async (crawl: StoredCrawl, shards: number): Promise<Holding> => {
  try {
    const settled: PageRow[] = [];
    const unsettled: { url: string; state: string }[] = [];
    let waits = '';
    for await (const found of crawl.walk(['pages', 'sites'])) {
      if (found.kind === 'pages') settled.push(...found.pages);
      if (found.kind === 'site') {
        waits = found.state === 'parked' || found.state === 'held' ? found.state : 'waiting';
        if (found.leased && found.leased !== 'unreadable')
          unsettled.push({ url: found.leased.link.url, state: 'leased' });
      }
      if (found.kind === 'queue') for (const { link } of found.links) unsettled.push({ url: link.url, state: waits });
    }
    return { settled, unsettled, wrong: await surveyed(crawl, shards) };
  } finally {
    await crawl.close();
  }
};

/** As `gossamer verify` looks at it. */
const surveyed = async (crawl: StoredCrawl, shards: number): Promise<string[]> => {
  const { faults, whole } = await survey(crawl, { shards, needsPlace: false, onProgress: () => {} });
  const wrong = faults.map((fault) =>
    JSON.stringify(fault, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  );
  if (whole && whole.tally.elsewhere.length === 0 && whole.lost.size > 0)
    wrong.push(`${whole.lost.size} known URLs are in no state`);
  return wrong;
};

export const sqliteDurable = (clock: VirtualClock, archive: FaultyArchive): Durable => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-sim-'));
  const opened: Store[] = [];
  const open = (): SqliteStore => {
    archive.state = 'well';
    const store = openSqlite({
      path: join(dir, CRAWL_DB),
      clock: () => clock,
      archive: (settled) => (archive.cut(settled), archive),
    });
    opened.push(store);
    return store;
  };
  return {
    open,
    archive: () => archive,
    records: () => archive.records(),
    recordAt: archive.recordAt,
    rest: () => open().census(),
    holding: async () => {
      const place = { url: 'sqlite', crawl: '', member: '', shards: SHARDS, dir, frontier: 'store' } as const;
      return holdingOf(await openSqliteCrawl({ ...place, say: () => {} }), SHARDS);
    },
    remove: () => {
      for (const store of opened) void store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** The reference store, for one process. */
export const memoryDurable = (clock: VirtualClock, archive: FaultyArchive): Durable => {
  const state = createMemoryState();
  const open = (): Store => {
    archive.state = 'well';
    return openMemoryStore({ clock, archive, state });
  };
  return {
    open,
    archive: () => archive,
    records: () => archive.records(),
    recordAt: archive.recordAt,
    rest: () => open().census(),
    holding: () => holdingOf(openMemoryCrawl({ state, clock }), SHARDS),
    remove: () => {},
  };
};

/** The reference store, shared by members with an archive each. */
export const memberDurable = (clock: VirtualClock, admittedMax: number): Durable => {
  const state = createMemoryState();
  const members = new Map<string, { readonly archive: FaultyArchive; readonly dead: DeadRecords[] }>();
  let servers = 1;
  const memberOf = (name: string): { archive: FaultyArchive; dead: DeadRecords[] } => {
    const member = members.get(name) ?? { archive: createFaultyArchive(`archive-${name}`), dead: [] };
    members.set(name, member);
    return member;
  };
  const open = (name: string): Store => {
    const { archive, dead } = memberOf(name);
    archive.state = 'well';
    const member = {
      name,
      admittedMax,
      server: () => `server ${servers}`,
      dead: (records: readonly DeadRecords[]) => void dead.push(...records),
    };
    return openMemoryStore({ clock, archive, state, member });
  };
  return {
    open,
    archive: (name) => memberOf(name).archive,
    records: () => [...members.values()].flatMap(({ archive, dead }) => archive.records(dead)),
    recordAt: (place) =>
      [...members.values()].map(({ archive }) => archive.recordAt(place)).find((text) => text !== '') ?? '',
    rest: async () => {
      const stores = [...members.keys()].map(open);
      return stores.at(-1)!.census();
    },
    holding: () => holdingOf(openMemoryCrawl({ state, clock }), SHARDS),
    save: async () => {
      const saved = structuredClone(state);
      return async () => {
        Object.assign(state, structuredClone(saved));
        servers++;
      };
    },
    remove: () => {},
  };
};
