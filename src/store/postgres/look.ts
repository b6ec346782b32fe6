/** A crawl opened to look at it: short reads, each on a connection that is given back at once. */

import type { ClientBase, QueryResultRow } from 'pg';
import { StoreFault } from '../../frontier/store.ts';
import type { SharedPlace } from '../shared-crawl.ts';
import type { Value } from './book.ts';
import { connectTo, type Server } from './connect.ts';
import { checkLayout, layoutOf, type Layout } from './layout.ts';
import { isCrawlName, schemaOf } from './schema.ts';

export interface Look {
  readonly place: SharedPlace;
  readonly schema: string;
  readonly server: Server;
  rows<Row>(text: string, values?: readonly Value[]): Promise<Row[]>;
  /** What the crawl says of itself; null when there is none. */
  layout(): Promise<Layout | null>;
  /** How many shards the crawl has; throws a StoreFault when there is none. */
  shards(): Promise<number>;
}

/** PostgreSQL's codes for a table and a schema that are not there. */
const NOT_THERE = ['42P01', '3F000'];

/**
 * Makes nothing. Throws a StoreFault when the server cannot be reached, or the crawl is one that a newer program made.
 */
export const openLook = async (place: SharedPlace): Promise<Look> => {
  const { url, crawl, say } = place;
  if (!isCrawlName(crawl))
    throw new StoreFault(
      `"${crawl}" cannot be the name of a crawl in PostgreSQL`,
      'use up to 50 of the characters a-z, 0-9 and _',
    );
  const schema = schemaOf(crawl);
  const server = connectTo({ url, schema, say });
  let shards: number | null = null;
  const none = (cause?: unknown): StoreFault =>
    new StoreFault(
      `PostgreSQL at ${server.where} has no crawl "${crawl}"`,
      'look at --store and --name, or start it with "gossamer crawl"',
      cause,
    );
  const look: Look = {
    place,
    schema,
    server,
    rows: async <Row>(text: string, values: readonly Value[] = []) => {
      try {
        return await server.once(async (client) => rowsOn<Row>(client, text, values));
      } catch (error) {
        const { cause } = error as { cause?: { code?: string } };
        throw NOT_THERE.includes(cause?.code ?? '') ? none(error) : error;
      }
    },
    layout: () => server.once((client) => layoutOf(client, schema)),
    shards: async () => {
      if (shards !== null) return shards;
      const there = await look.layout();
      if (there === null) throw none();
      return (shards = there.shards);
    },
  };
  try {
    const there = await look.layout();
    if (there !== null) checkLayout(crawl, there);
    return look;
  } catch (error) {
    await server.close();
    throw error;
  }
};

export const rowsOn = async <Row>(client: ClientBase, text: string, values: readonly Value[] = []): Promise<Row[]> =>
  (await client.query<Row & QueryResultRow>(text, [...values])).rows;

/** Several reads that see the crawl at one moment. */
export const atOneMoment = <T>({ server }: Look, read: (client: ClientBase) => Promise<T>): Promise<T> =>
  server.once(async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      return await read(client);
    } finally {
      await client.query('COMMIT').catch(() => {});
    }
  });
