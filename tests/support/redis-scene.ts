/** Crawls in a real Redis, with the files of their members in temporary folders. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Archive } from '../../src/archive/archive.ts';
import type { MemberAbout } from '../../src/contract/journal.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { DeadRecords } from '../../src/contract/walk.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { PageRow } from '../../src/model/page.ts';
import type { FrontierPlace } from '../../src/model/settings.ts';
import { FRONTIER_DIR, PAGES_DB, pathOf } from '../../src/store/files.ts';
import type { OpenedStore, StorePlace } from '../../src/store/options.ts';
import { openRedisCrawl } from '../../src/store/redis/crawl.ts';
import type { FilesLimits } from '../../src/store/redis/files/limits.ts';
import { openPages } from '../../src/store/redis/read-pages.ts';
import { openRedisStore } from '../../src/store/redis/store.ts';
import { SHARDS, shardOf } from '../../src/url/shard.ts';
import { storeContract } from '../contract/store-contract.ts';
import type { OpenPlace, StoredPlace } from '../contract/stored-crawl.ts';

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
export const freshName = (): string => `crawl-${process.pid}-${++crawls}`;

export const createMember = (crawl = freshName(), member = 'm1'): MemberFolder => ({
  dir: mkdtempSync(join(tmpdir(), 'gossamer-redis-rows-')),
  crawl,
  member,
  said: [],
  dead: [],
});

export const removeMember = ({ dir }: MemberFolder): void => rmSync(dir, { recursive: true, force: true });

export const rowsPathOf = (folder: MemberFolder): string => pathOf(folder, PAGES_DB);
export const filesFolderOf = (folder: MemberFolder): string => pathOf(folder, FRONTIER_DIR);

/** The name of a key in the shard of a site. */
export const keyOf = ({ crawl }: Pick<MemberFolder, 'crawl'>, site: string, name: string): string =>
  `{${crawl}:${shardOf(site)}}:${name}`;

export interface MemberOptions {
  readonly url: string;
  readonly archive: Archive;
  /** The server's time where it is missing, or null. */
  readonly clock?: Clock | null;
  readonly shards?: number;
  readonly frontier?: FrontierPlace;
  readonly limits?: Partial<FilesLimits>;
  readonly about?: MemberAbout;
}

const placeOf = (
  { dir, crawl, member }: MemberFolder,
  { url, shards = SHARDS, frontier = 'store' }: Pick<MemberOptions, 'url' | 'shards' | 'frontier'>,
): StorePlace => ({ dir, crawl, member, url, shards, frontier });

/** Opens the crawl to work on it. */
export const openMember = (folder: MemberFolder, options: MemberOptions): Promise<OpenedStore> => {
  const { archive, clock = null, limits, about } = options;
  return openRedisStore(
    {
      ...placeOf(folder, options),
      archive: (settled) => {
        archive.cut(settled);
        return archive;
      },
      dead: (records) => void folder.dead.push(...records),
      clock: clock && (() => clock),
      say: (message) => void folder.said.push(message),
      ...(about ? { about } : {}),
    },
    limits,
  );
};

/** Opens the crawl to look at it, as this member. */
export const openLook = (
  folder: MemberFolder,
  options: Pick<MemberOptions, 'url' | 'shards' | 'frontier'>,
): Promise<StoredCrawl> => openRedisCrawl({ ...placeOf(folder, options), say: () => {} });

export const withLook = async <T>(
  folder: MemberFolder,
  options: Parameters<typeof openLook>[1],
  work: (crawl: StoredCrawl) => Promise<T>,
): Promise<T> => {
  const crawl = await openLook(folder, options);
  try {
    return await work(crawl);
  } finally {
    await crawl.close();
  }
};

/** All rows of a member, settled or not. */
export const pagesOf = (folder: MemberFolder): PageRow[] => {
  const rows = openPages(rowsPathOf(folder));
  try {
    const pages: PageRow[] = [];
    for (let [row, end] = [0, Infinity]; row < end; ) {
      const slice = rows.after(row, {});
      pages.push(...slice.pages);
      ({ row, end } = slice);
    }
    return pages;
  } finally {
    rows.close();
  }
};

type Changes = Pick<MemberOptions, 'frontier' | 'limits'>;

/** The verbs keep the contract of a store. */
export const redisContract = (name: string, url: () => string, changes: Changes = {}): void =>
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

export interface RedisPlace extends StoredPlace {
  readonly folder: MemberFolder;
}

/** New places for the contract of a stored crawl. A crawl that is filled has its waiting links in Redis. */
export const redisPlaces = (
  url: () => string,
  { frontier = 'store', limits = {} }: Changes = {},
): OpenPlace<RedisPlace> => {
  const first = new WeakSet<Clock>();
  return ({ clock, archive }) => {
    const folder = createMember();
    const isFirst = !first.has(clock);
    first.add(clock);
    const options = { url: url(), frontier: isFirst ? frontier : 'store' } as const;
    return {
      folder,
      work: () => openMember(folder, { ...options, archive, clock, limits }),
      look: () => openLook(folder, options),
      remove: () => removeMember(folder),
    };
  };
};
