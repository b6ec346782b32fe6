/** The one place that opens a store. The clients of servers are loaded when they are needed. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { kindOf, withCa } from './address.ts';
import type { LookOptions, OpenedStore, StoreOptions } from './options.ts';

/** To work on the crawl: frees the leases that this member had when it died, and makes the crawl if it is new. */
export const openStore = async (options: StoreOptions): Promise<OpenedStore> => {
  const kind = kindOf(options.url);
  switch (kind) {
    case 'sqlite':
      return (await import('./sqlite/store.ts')).openSqliteStore(options);
    case 'redis':
      return (await import('./redis/store.ts')).openRedisStore(withOwnCa(options));
    case 'postgres':
      return (await import('./postgres/store.ts')).openPostgresStore(withOwnCa(options));
    default:
      return kind satisfies never;
  }
};

/** To look at the crawl, check it, or move it; makes nothing. */
export const openStoredCrawl = async (options: LookOptions): Promise<StoredCrawl> => {
  const kind = kindOf(options.url);
  switch (kind) {
    case 'sqlite':
      return (await import('./sqlite/crawl.ts')).openSqliteCrawl(options);
    case 'redis':
      return (await import('./redis/crawl.ts')).openRedisCrawl(withOwnCa(options));
    case 'postgres':
      return (await import('./postgres/crawl.ts')).openPostgresCrawl(withOwnCa(options));
    default:
      return kind satisfies never;
  }
};

const withOwnCa = <T extends LookOptions>(options: T): T => ({ ...options, url: withCa(options.url, options.ca) });

/** How a person removes a crawl from a store that is shared: the program itself never does. */
export const removalOf = async (url: string, crawl: string): Promise<string> =>
  kindOf(url) === 'postgres'
    ? `DROP SCHEMA ${(await import('./postgres/schema.ts')).schemaOf(crawl)} CASCADE`
    : `redis-cli --scan --pattern '{${crawl}[:}]*' | xargs redis-cli unlink`;
