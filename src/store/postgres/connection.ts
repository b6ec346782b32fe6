/** A crawl opened to look at it: short reads, each on a connection that is given back at once. */

import type { ClientBase, QueryConfig, QueryResultRow } from 'pg';
import { StoreFault } from '../../contract/fault.ts';
import type { LookOptions } from '../options.ts';
import { connectTo, inTransaction } from './connect.ts';
import { codeOf } from './faults.ts';
import { addFunctions, readLayout, type Layout } from './layout.ts';
import { schemaOf } from './schema.ts';
import { fillIn } from './sql.ts';
import type { Value } from './values.ts';

/** The rows of a statement, in which names after an `@` are put in. */
export type Rows = <Row>(text: string, values?: readonly Value[], timeoutMs?: number) => Promise<Row[]>;

/** A check of a hundred million rows, or an index over them, takes some minutes. */
export const LONG_MS_MAX = 3_600_000;

export interface Connection {
  readonly options: LookOptions;
  readonly schema: string;
  /** Work on one connection to the server; throws a StoreFault when it needs a crawl, and there is none. */
  once<T>(work: (client: ClientBase) => Promise<T>): Promise<T>;
  readonly rows: Rows;
  /** What the crawl says of itself; null when there is none. */
  layout(): Promise<Layout | null>;
  close(): Promise<void>;
}

/** PostgreSQL's codes for a table and a schema that are not there. */
const NOT_THERE = ['42P01', '3F000'];

/** Makes nothing. Throws a StoreFault when the server cannot be reached, or another version made the crawl. */
export const openConnection = async (options: LookOptions): Promise<Connection> => {
  const { url, crawl, say } = options;
  const schema = schemaOf(crawl);
  const server = connectTo({ url, schema, say });
  const once: Connection['once'] = async (work) => {
    try {
      return await server.once(work);
    } catch (error) {
      if (!NOT_THERE.includes(codeOf((error as Error).cause))) throw error;
      throw new StoreFault(
        `PostgreSQL at ${server.where} has no crawl "${crawl}"`,
        'if it was stopped before it began, "gossamer resume" begins it; otherwise look at --store and --name, or start it with "gossamer crawl"',
        error,
      );
    }
  };
  const layout = (): Promise<Layout | null> =>
    once(async (client) => {
      const there = await readLayout(client, { crawl, schema });
      if (there && !there.hasFunctions) await addFunctions(client, { ...options, schema });
      return there;
    });
  try {
    await layout();
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    options,
    schema,
    once,
    rows: (...statement) => once((client) => rowsOn(client, schema)(...statement)),
    layout,
    close: () => server.close(),
  };
};

export const rowsOn =
  (client: ClientBase, schema: string): Rows =>
  async <Row>(text: string, values: readonly Value[] = [], timeoutMs?: number) => {
    const query = { text: fillIn(text, schema), values: [...values], query_timeout: timeoutMs } as QueryConfig;
    return (await client.query<Row & QueryResultRow>(query)).rows;
  };

/** Several reads that see the crawl at one moment. */
export const atOneMoment = <T>({ once, schema }: Connection, read: (rows: Rows) => Promise<T>): Promise<T> =>
  once((client) =>
    inTransaction(client, () => read(rowsOn(client, schema)), 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
  );
