/** Makes the tables and functions of a crawl, and refuses those of another version. */

import type { ClientBase } from 'pg';
import { StoreFault } from '../../contract/fault.ts';
import { layoutFault } from '../layouts.ts';
import { inTransaction } from './connect.ts';
import { LAYOUT, lockKey, MOVING } from './schema.ts';
import { fillIn, functionName, makeFunctions, sqlFile } from './sql.ts';

/** PostgreSQL 15, as it numbers itself. */
const SERVER_MIN = 150_000;

export interface LayoutOptions {
  readonly crawl: string;
  readonly schema: string;
  /** How many shards a new crawl gets. */
  readonly shards: number;
}

/** What a crawl says of itself. */
export interface Layout {
  readonly shards: number;
  /** Whether it has the functions of this version of the program. */
  readonly hasFunctions: boolean;
  /** The name of the move that has not ended; null when the crawl is whole. */
  readonly moving: string | null;
}

/** Makes a crawl that is new; of two processes that open it at once, the second finds it made. Gives its shards. */
export const prepareLayout = (client: ClientBase, options: LayoutOptions): Promise<number> =>
  alone(client, options, async (there) => {
    if (there?.moving) throw beingMoved(options.crawl);
    if (there) return there.shards;
    await create(client, options);
    await client.query(fillIn('SELECT @crawl.make_whole(NULL)', options.schema));
    return options.shards;
  });

/** The layout of a crawl to be filled, made anew if an earlier move did not end. Gives the name of this move. */
export const beginFillLayout = (
  client: ClientBase,
  options: LayoutOptions & { readonly member: string },
): Promise<string> =>
  alone(client, options, async (there) => {
    const { crawl, schema, member } = options;
    if (there && !there.moving)
      throw new StoreFault(
        `PostgreSQL has a crawl "${crawl}" already`,
        'choose another --name, or drop the schema of the one that is there',
      );
    if (there) await client.query(`DROP SCHEMA ${schema} CASCADE`);
    await create(client, options);
    await client.query(`INSERT INTO ${schema}.member (name, run) VALUES ($1, 0)`, [member]);
    const { rows } = await client.query<{ value: string }>(
      `INSERT INTO ${schema}.meta (name, value) VALUES ('${MOVING}', pg_current_xact_id()::text) RETURNING value`,
    );
    return rows[0]!.value;
  });

export const beingMoved = (crawl: string): StoreFault =>
  new StoreFault(`the crawl "${crawl}" is being moved here`, 'run `gossamer migrate` again');

const alone = async <T>(
  client: ClientBase,
  { crawl, schema }: LayoutOptions,
  work: (there: Layout | null) => Promise<T>,
): Promise<T> => {
  await checkServer(client);
  return inTransaction(client, async () => {
    await client.query(`SELECT pg_advisory_xact_lock(${lockKey(schema, 'layout')})`);
    const there = await readLayout(client, { crawl, schema });
    if (there && !there.hasFunctions) await client.query(makeFunctions(schema));
    return work(there);
  });
};

/** Makes the functions of this version in a crawl that members of another one made; the tables are the same. */
export const addFunctions = (client: ClientBase, options: LayoutOptions): Promise<void> =>
  alone(client, options, async () => {});

const checkServer = async (client: ClientBase): Promise<void> => {
  const { rows } = await client.query<{ version: number; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
      current_setting('server_encoding') AS encoding`,
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

/** Null when there is no such crawl; throws a StoreFault when another version made it. */
export const readLayout = async (
  client: ClientBase,
  { crawl, schema }: Pick<LayoutOptions, 'crawl' | 'schema'>,
): Promise<Layout | null> => {
  // The catalogue itself is read: to_regclass may answer from a cache that is older than the lock that was waited for.
  const { rowCount } = await client.query(
    "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta'",
    [schema],
  );
  if (rowCount === 0) return null;
  const { rows } = await client.query<{ name: string; value: string }>(
    `SELECT name, value FROM ${schema}.meta WHERE name IN ('layout', 'shards', '${MOVING}')`,
  );
  const { rowCount: functions } = await client.query(
    'SELECT FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace WHERE n.nspname = $1 AND f.proname = $2',
    [schema, functionName('make_whole')],
  );
  const kept = new Map(rows.map(({ name, value }) => [name, value]));
  const layout = Number(kept.get('layout'));
  if (layout !== LAYOUT)
    throw layoutFault({ kind: 'postgres', what: `the crawl "${crawl}" in PostgreSQL`, found: layout, known: LAYOUT });
  return { shards: Number(kept.get('shards')), hasFunctions: functions! > 0, moving: kept.get(MOVING) ?? null };
};

const create = async (client: ClientBase, { schema, shards }: LayoutOptions): Promise<void> => {
  await client.query(
    `CREATE SCHEMA IF NOT EXISTS ${schema}; ${fillIn(sqlFile('tables'), schema)} ${makeFunctions(schema)}`,
  );
  await client.query(
    `INSERT INTO ${schema}.meta (name, value) VALUES ('layout', '${LAYOUT}'), ('shards', '${shards}')`,
  );
};
