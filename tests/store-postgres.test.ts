/** The store in PostgreSQL keeps the contract of a store. */

import { after } from 'node:test';
import type { Archive } from '../src/frontier/store.ts';
import type { ArchiveEnd } from '../src/model/census.ts';
import { PAGE_SELECT, toPage } from '../src/store/postgres/pages.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { SHARDS } from '../src/url/shard.ts';
import { storeContract } from './contract/store-contract.ts';
import { startPostgres } from './support/postgres-server.ts';
import { openTcpProxy } from './support/tcp-proxy.ts';

const server = await startPostgres();
after(() => server.remove());

/** The address of a database through a proxy. */
const through = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

storeContract(
  'postgres',
  async ({ clock, archive, from }) => {
    const url = (from as string | null) ?? (await server.database());
    const proxy = await openTcpProxy(server.port);
    const store = await openPostgresStore({
      url: through(url, proxy.port),
      crawl: 'contract',
      member: 'here',
      shards: SHARDS,
      clock,
      say: () => {},
      archive: (settled: ArchiveEnd): Archive => {
        archive.cut(settled);
        return archive;
      },
    });
    return {
      store,
      pages: async () =>
        (
          await server.query(
            url,
            `SELECT ${PAGE_SELECT} FROM gossamer_contract.page p JOIN gossamer_contract.site k ON k.id = p.site ORDER BY p.id`,
          )
        ).map(toPage),
      // The process that dies says nothing to the server; what it sent may still be under way there.
      kill: async () => {
        await proxy.close();
        await store.close();
        return url;
      },
      remove: () => proxy.close(),
    };
  },
  { leasesRunOut: true, isServer: true },
);
