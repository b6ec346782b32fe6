/** Crawls in a real Redis, with rows in a temporary folder. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadRecords } from '../../src/store/shared-crawl.ts';
import { openRows } from '../../src/store/redis/rows.ts';
import { openRedisStore, type RedisStore, type RedisStoreOptions } from '../../src/store/redis/store.ts';
import type { Archive } from '../../src/frontier/store.ts';
import type { PlacedPage } from '../../src/model/settlement.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { storeContract } from '../contract/store-contract.ts';

export interface MemberFolder {
  readonly dir: string;
  readonly crawl: string;
  readonly member: string;
  /** What the store said to a person. */
  readonly said: string[];
  /** What it said of its archive. */
  readonly dead: DeadRecords[];
}

let crawls = 0;

export const createMember = (crawl = `crawl-${process.pid}-${++crawls}`, member = 'm1'): MemberFolder => ({
  dir: mkdtempSync(join(tmpdir(), 'gossamer-redis-rows-')),
  crawl,
  member,
  said: [],
  dead: [],
});

export const rowsPathOf = ({ dir }: MemberFolder): string => join(dir, 'rows.db');

export const openMember = (
  folder: MemberFolder,
  { url, archive, ...changes }: { url: string; archive: Archive } & Partial<Omit<RedisStoreOptions, 'archive'>>,
): Promise<RedisStore> =>
  openRedisStore({
    url,
    crawl: folder.crawl,
    member: folder.member,
    shards: SHARDS,
    rowsPath: rowsPathOf(folder),
    archive: (settled) => {
      archive.cut(settled);
      return archive;
    },
    dead: (records) => void folder.dead.push(...records),
    clock: null,
    say: (message) => void folder.said.push(message),
    ...changes,
  });

export const pagesOf = (folder: MemberFolder): PlacedPage[] => {
  const rows = openRows(rowsPathOf(folder));
  try {
    return rows.pages();
  } finally {
    rows.close();
  }
};

export const removeMember = ({ dir }: MemberFolder): void => rmSync(dir, { recursive: true, force: true });

export const redisContract = (
  name: string,
  url: () => string,
  changes: Partial<Pick<RedisStoreOptions, 'frontier' | 'frontierLimits'>> = {},
): void =>
  storeContract(
    name,
    async ({ clock, archive, from }) => {
      const folder = (from as MemberFolder | null) ?? createMember();
      const store = await openMember(folder, { url: url(), archive, clock, ...changes });
      return {
        store,
        pages: () => pagesOf(folder),
        // Closing drops the connection in the middle of whatever is under way: to Redis that is a process that died.
        kill: async () => {
          await store.close();
          return folder;
        },
        remove: () => removeMember(folder),
      };
    },
    { leasesRunOut: true, isServer: true },
  );
