/** Creates the tables of a crawl, brings older ones up to date, and refuses newer ones. */

import type { ClientBase, QueryConfig } from 'pg';
import { StoreFault } from '../../frontier/store.ts';
import { admitFunction } from './admit.ts';
import { censusFunction } from './census.ts';
import { claimFunction } from './claim.ts';
import { LAYOUT, lockKey, pageIndex, sharedFunctions, tables } from './schema.ts';
import { settleFunction } from './settle.ts';
import { steerFunctions } from './steer.ts';
import { layoutFault } from '../layouts.ts';

/** PostgreSQL 15, as it numbers itself. */
const SERVER_MIN = 150_000;

/** Building an index over a hundred million rows takes some minutes. */
const INDEX_MS_MAX = 3_600_000;

/** What the table `meta` calls a move that has not ended. */
export const MOVING = 'moving';

export interface LayoutOptions {
  readonly crawl: string;
  readonly schema: string;
  /** Of a crawl that is new. */
  readonly shards: number;
}

/** From one layout to the next: the step at place n brings layout n + 1 to n + 2. There is one layout so far. */
const STEPS: readonly ((schema: string) => string)[] = [];

const functions = (s: string): string =>
  [sharedFunctions, steerFunctions, admitFunction, claimFunction, settleFunction, censusFunction]
    .map((write) => write(s))
    .join('\n');

/**
 * Under a lock, in one transaction: of two processes that open a crawl at once, the second finds it made. Gives the
 * number of its shards.
 */
export const prepareLayout = (client: ClientBase, options: LayoutOptions): Promise<number> =>
  alone(client, options.schema, async () => {
    const there = await layoutOf(client, options.schema);
    if (there === null) {
      await create(client, options);
      return options.shards;
    }
    if (there.moving !== null) throw beingMoved(options.crawl);
    await bringUpToDate(client, options, there);
    return there.shards;
  });

/**
 * The layout of a crawl that pieces are moved into, made anew if an earlier move did not end. Its tables of known URLs
 * and of pages have no index on random keys until `endMoveLayout`: an index that is built at the end is sorted first.
 * Gives the name of this move.
 */
export const beginMoveLayout = (client: ClientBase, options: LayoutOptions): Promise<string> =>
  alone(client, options.schema, async () => {
    const { crawl, schema } = options;
    const there = await layoutOf(client, schema);
    if (there !== null && there.moving === null) {
      throw new StoreFault(
        `PostgreSQL has a crawl "${crawl}" already`,
        'choose another --name, or drop the schema of the one that is there',
      );
    }
    if (there !== null) await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await create(client, options);
    const {
      rows: [move],
    } = await client.query<{ value: string }>(
      `INSERT INTO ${schema}.meta (name, value) VALUES ('${MOVING}', pg_current_xact_id()::text) RETURNING value`,
    );
    await client.query(`ALTER TABLE ${schema}.seen DROP CONSTRAINT seen_pkey; DROP INDEX ${schema}.page_of_site`);
    return move!.value;
  });

/** The crawl is whole from here on. */
export const endMoveLayout = async (client: ClientBase, schema: string): Promise<void> => {
  const slowly = (text: string): Promise<unknown> => client.query({ text, query_timeout: INDEX_MS_MAX } as QueryConfig);
  await slowly(`ALTER TABLE ${schema}.seen ADD CONSTRAINT seen_pkey PRIMARY KEY (print)`);
  await slowly(pageIndex(schema));
  await client.query(`SELECT setval('${schema}.found', (SELECT max(found) FROM ${schema}.site))`);
  await client.query(`DELETE FROM ${schema}.meta WHERE name = '${MOVING}'`);
};

export const beingMoved = (crawl: string): StoreFault =>
  new StoreFault(`the crawl "${crawl}" is being moved here`, 'run `gossamer migrate` again');

const alone = async <T>(client: ClientBase, schema: string, work: () => Promise<T>): Promise<T> => {
  await checkServer(client);
  await client.query('BEGIN');
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${lockKey(schema, 'layout')})`);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
};

const checkServer = async (client: ClientBase): Promise<void> => {
  const { rows } = await client.query<{ version: number; name: string; encoding: string }>(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name, current_setting('server_encoding') AS encoding",
  );
  const { version, name, encoding } = rows[0]!;
  if (version < SERVER_MIN)
    throw new StoreFault(
      `the PostgreSQL server has version ${name}, and a crawl needs 15 or newer`,
      'upgrade it, or choose another store',
    );
  if (encoding !== 'UTF8')
    throw new StoreFault(
      `the database has the encoding ${encoding}, and a crawl needs UTF8`,
      "create one with ENCODING 'UTF8' TEMPLATE template0",
    );
};

/** What a crawl says of itself. */
export interface Layout {
  readonly layout: number;
  readonly shards: number;
  /** The name of the move that has not ended; null when the crawl is whole. */
  readonly moving: string | null;
}

/** The layout of a crawl that is there; null when there is none. */
export const layoutOf = async (client: ClientBase, schema: string): Promise<Layout | null> => {
  // The catalogue itself is read: to_regclass may answer from a cache that is older than the lock that was waited for.
  const { rowCount } = await client.query(
    "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta'",
    [schema],
  );
  if (rowCount === 0) return null;
  const { rows } = await client.query<{ name: string; value: string }>(
    `SELECT name, value FROM ${schema}.meta WHERE name IN ('layout', 'shards', '${MOVING}')`,
  );
  const kept = new Map(rows.map(({ name, value }) => [name, value]));
  return { layout: Number(kept.get('layout')), shards: Number(kept.get('shards')), moving: kept.get(MOVING) ?? null };
};

const create = async (client: ClientBase, { schema, shards }: LayoutOptions): Promise<void> => {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; ${tables(schema)} ${functions(schema)}`);
  await client.query(`INSERT INTO ${schema}.meta (name, value) VALUES ('layout', $1), ('shards', $2)`, [
    String(LAYOUT),
    String(shards),
  ]);
};

/** Also an older layout can be brought up to date, not a newer one. */
export const checkLayout = (crawl: string, { layout }: Layout): void => {
  if (layout >= 1 && layout <= LAYOUT) return;
  throw layoutFault({ kind: 'postgres', what: `the crawl "${crawl}" in PostgreSQL`, found: layout, known: LAYOUT });
};

const bringUpToDate = async (client: ClientBase, { crawl, schema }: LayoutOptions, there: Layout): Promise<void> => {
  checkLayout(crawl, there);
  for (let layout = there.layout; layout < LAYOUT; layout++) await client.query(STEPS[layout - 1]!(schema));
  if (there.layout < LAYOUT)
    await client.query(`UPDATE ${schema}.meta SET value = $1 WHERE name = 'layout'`, [String(LAYOUT)]);
};

/** A crawl that was made with another number of shards lies elsewhere than this process would look. */
export const checkShards = (
  crawl: string,
  { shards, wanted }: { readonly shards: number; readonly wanted: number },
): void => {
  if (shards === wanted) return;
  throw new StoreFault(
    `the crawl "${crawl}" in PostgreSQL has ${shards} shards, not ${wanted}`,
    'give the number that it was created with, or use gossamer migrate --shards',
  );
};
