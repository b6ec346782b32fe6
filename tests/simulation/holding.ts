/** What a store holds at the end of a run, whichever store it is. */

import type { Store } from '../../src/frontier/store.ts';
import type { Census } from '../../src/model/census.ts';
import type { Place, PlacedPage } from '../../src/model/settlement.ts';
import { openMemoryStore, type MemoryState } from '../../src/store/memory.ts';
import { createMemoryState } from '../../src/store/memory-state.ts';
import { preparing } from '../../src/store/sqlite/book.ts';
import { SITE_LINE_SQL, unsettledLinks, type SiteLine } from '../support/sqlite-links.ts';
import { openSqliteReader } from '../../src/store/sqlite/reader.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { DatabaseSync } from 'node:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultyArchive } from './faulty.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface Holding {
  readonly settled: Iterable<PlacedPage>;
  readonly unsettled: Iterable<{ readonly url: string; readonly state: string }>;
  /** What a check of the store finds wrong, where it has one. */
  readonly wrong?: readonly string[];
}

/** A crawl's memory that outlives its processes. */
export interface Durable {
  /** As a process that starts in this directory would: what its former process had leased is freed. */
  open(member: string): Store | SqliteStore | Promise<Store>;
  /** That a process with this directory appends to. */
  archive(member: string): FaultyArchive;
  /** All records that belong to a page. */
  records(): string[];
  recordAt(place: Place): string;
  /** Opens it once more everywhere, so that what the dead left is put right. */
  rest(): Promise<Census>;
  holding(): Holding | Promise<Holding>;
  remove(): void;
}

export const sqliteDurable = (clock: VirtualClock, archive: FaultyArchive): Durable => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-sim-'));
  const path = join(dir, 'crawl.db');
  const opened: Store[] = [];
  const open = (): SqliteStore => {
    archive.state = 'well';
    const store = openSqliteStore({ path, clock: () => clock, archive: (settled) => (archive.cut(settled), archive) });
    opened.push(store);
    return store;
  };
  return {
    open,
    archive: () => archive,
    records: () => archive.records(),
    recordAt: archive.recordAt,
    rest: () => open().census(),
    holding: () => {
      const reader = openSqliteReader(path);
      const db = new DatabaseSync(path, { readOnly: true });
      const sql = preparing(db);
      const unsettled = (sql(SITE_LINE_SQL).all() as unknown as SiteLine[]).flatMap((site) => [
        ...unsettledLinks(sql, site),
      ]);
      const settled = [...reader.pages({})];
      db.close();
      reader.close();
      return { settled, unsettled };
    },
    remove: () => {
      for (const store of opened) void store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** The reference store; shared by processes, it is opened once and leases run out. */
export const memoryDurable = (clock: VirtualClock, archive: FaultyArchive, shared: boolean): Durable => {
  const state: MemoryState = createMemoryState();
  let store: Store | null = null;
  const open = (): Store => {
    archive.state = 'well';
    if (!store || !shared) store = openMemoryStore({ clock, archive, state });
    return store;
  };
  return {
    open,
    archive: () => archive,
    records: () => archive.records(),
    recordAt: archive.recordAt,
    rest: () => open().census(),
    holding: () => ({
      settled: state.pages,
      unsettled: [...state.sites.values()].flatMap((site) => [
        ...(site.lease ? [{ url: site.lease.link.url as string, state: 'leased' }] : []),
        ...site.line.map(({ link }) => ({
          url: link.url as string,
          state: site.state === 'open' ? 'waiting' : site.state,
        })),
      ]),
    }),
    remove: () => {},
  };
};
