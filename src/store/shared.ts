/**
 * Stores that processes share: what they give beside the verbs, and where they are opened.
 *
 * A member of a crawl is one directory, open in one process at a time: it has an archive of its own. All members
 * of a crawl are equal; the name of the crawl and its notes are in the store.
 */

import type { Archive, Store } from '../frontier/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { ArchiveEnd } from '../model/census.ts';
import type { FrontierPlace } from '../model/settings.ts';
import { kindOf } from './place.ts';
import type { DeadRecords, SharedCrawl, SharedPlace } from './shared-crawl.ts';

export {
  WRONG_NAMED_MAX,
  type MemberRows,
  type Piece,
  type SharedCrawl,
  type SharedPlace,
  type SharedSurvey,
} from './shared-crawl.ts';

export interface SharedStoreOptions extends SharedPlace {
  readonly member: string;
  /** Page rows of this member, where the store leaves them to it. */
  readonly rowsPath: string;
  /** The archive, cut to where the settled part of this member ends. */
  readonly archive: (settled: ArchiveEnd) => Archive;
  /** Is told of bytes in the archive that belong to no page; may be told twice. */
  readonly dead: (records: readonly DeadRecords[]) => void;
  /** Null for the server's time, which crawls use. */
  readonly clock: Clock | null;
  /** Where waiting links lie, for a store that has the choice. */
  readonly frontier?: FrontierPlace;
}

export interface SharedStore extends Store {
  /** The server's time now, as near as a round trip can tell. */
  time(): Promise<number>;
}

/** The clients of the servers are loaded when they are needed: a crawl in SQLite needs none. */
export const openSharedStore = async (options: SharedStoreOptions): Promise<SharedStore> => {
  switch (kindOf(options.url)) {
    case 'redis':
      return (await import('./redis/store.ts')).openRedisStore(options);
    case 'postgres':
      return (await import('./postgres/store.ts')).openPostgresStore(options);
    case 'sqlite':
      throw new Error('a store in SQLite is not shared');
  }
};

export const openSharedCrawl = async (place: SharedPlace): Promise<SharedCrawl> => {
  switch (kindOf(place.url)) {
    case 'redis':
      return (await import('./redis/crawl.ts')).openRedisCrawl(place);
    case 'postgres':
      return (await import('./postgres/crawl.ts')).openPostgresCrawl(place);
    case 'sqlite':
      throw new Error('a store in SQLite is not shared');
  }
};
