/** The store in PostgreSQL keeps both contracts of a store. */

import { after } from 'node:test';
import { SITE_STATE } from '../src/store/site-state.ts';
import { openPostgresCrawl } from '../src/store/postgres/crawl.ts';
import { keyOf } from '../src/store/postgres/schema.ts';
import { functionName } from '../src/store/postgres/sql.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { storeContract } from './contract/store-contract.ts';
import { pagesIn } from './contract/stored-scene.ts';
import { storedCrawlContract, type StoredPlace } from './contract/stored-crawl.ts';
import { lookOptions, workOptions } from './support/postgres-scene.ts';
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
    const store = await openPostgresStore(workOptions(through(url, proxy.port), { archive, clock }));
    return {
      store,
      pages: async () => {
        const crawl = await openPostgresCrawl(lookOptions(url));
        return pagesIn(crawl).finally(() => crawl.close());
      },
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

const url = await server.database();
let crawls = 0;

interface PostgresPlace extends StoredPlace {
  /** Runs a statement in which `@` is the schema of the crawl. */
  sql(text: string, ...values: readonly unknown[]): Promise<unknown>;
}

const setSite = ({ sql }: PostgresPlace, site: string, column: string, value: unknown): Promise<unknown> =>
  sql(`UPDATE @.site SET ${column} = $2 WHERE name = $1`, site, value);

/** A counter is the sum of all rows that have its name; the survey names those of sites with a space. */
const addTo = ({ sql }: PostgresPlace, counter: string, by: number): Promise<unknown> =>
  sql('INSERT INTO @.counter (slot, name, n) VALUES (99, $1, $2)', counter.replace('sites ', 'sites_'), by);

const OTHER_SITE = 5;

storedCrawlContract<PostgresPlace>(
  'postgres',
  ({ clock, archive }) => {
    const crawl = `c${++crawls}`;
    return {
      work: () => openPostgresStore(workOptions(url, { archive, clock }, { crawl })),
      look: () => openPostgresCrawl(lookOptions(url, { crawl })),
      sql: (text, ...values) => server.query(url, text.replaceAll('@', `gossamer_${crawl}`), values),
    };
  },
  {
    setWaiting: (place, site, count) => setSite(place, site, 'waiting', count),
    setPages: (place, site, count) => setSite(place, site, 'pages', count),
    setState: (place, site, state) => setSite(place, site, 'state', state === null ? 7 : SITE_STATE[state]),
    setShard: (place, site, shard) => setSite(place, site, 'shard', shard),
    loseLease: (place, site) => setSite(place, site, 'leased', null),
    breakLease: (place, site) => setSite(place, site, 'leased', 'x'),
    loseLink: ({ sql }, site, lost) =>
      sql(
        `UPDATE @.block SET links = ARRAY(SELECT l FROM unnest(links) WITH ORDINALITY AS u(l, nth)
        WHERE @.${functionName('url_of')}(l) <> $2 ORDER BY nth) WHERE site = $1`,
        keyOf(site),
        lost,
      ),
    addLink: ({ sql }, site, added) =>
      sql('UPDATE @.block SET links = links || $2::text WHERE site = $1', keyOf(site), `0 0 0 0 ${added}`),
    breakQueue: ({ sql }, site) => sql("UPDATE @.block SET links = '{rubbish}' WHERE site = $1", keyOf(site)),
    forgetUrl: ({ sql }, forgotten) => sql('DELETE FROM @.seen WHERE print = $1', keyOf(forgotten)),
    addUrl: ({ sql }, added) => sql('INSERT INTO @.seen (print) VALUES ($1)', keyOf(added)),
    losePage: ({ sql }, lost) => sql('DELETE FROM @.page WHERE url = $1', lost),
    repeatPage: ({ sql }, repeated) =>
      sql(
        `INSERT INTO @.page OVERRIDING SYSTEM VALUE
        SELECT (jsonb_populate_record(p, '{"id": 99}')).* FROM @.page p WHERE url = $1`,
        repeated,
      ),
    orphanPage: ({ sql }, orphan) => sql('UPDATE @.page SET site = $2 WHERE url = $1', orphan, OTHER_SITE),
    addToPages: addTo,
    addToLinks: addTo,
    addToSites: addTo,
    addStrayBlock: ({ sql }, site) =>
      sql(
        "INSERT INTO @.block (site, position, via, links) VALUES ($1, 99, '', '{0 0 0 0 https://x.example/9}')",
        keyOf(site),
      ),
  },
);
