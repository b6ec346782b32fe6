/** A crawl opened to look at it, check it or fill it: the connection, and what of it lies in this directory. */

import { Cluster, type Redis } from 'ioredis';
import { StoreFault } from '../../contract/fault.ts';
import { PAGES_DB, pathOf } from '../files.ts';
import type { LookOptions } from '../options.ts';
import { connectRedis } from './connect.ts';
import { goneBecause, isGone, redisFault } from './faults.ts';
import { openFilesReader } from './files/reader.ts';
import { createKeys, type Keys } from './keys.ts';
import { shardsOf } from './layout.ts';
import { storeReader } from './queue-store.ts';
import type { QueueReader } from './queue.ts';
import { openPages, type PagesReader } from './read-pages.ts';
import { createWire, type Wire } from './wire.ts';

export interface Connection {
  readonly place: LookOptions;
  readonly keys: Keys;
  readonly wire: Wire;
  readonly pages: PagesReader;
  readonly queue: QueueReader;
  /** `host:port`, for people. */
  readonly where: string;
  /** How many shards the crawl has; throws a StoreFault when there is none. */
  shards(): Promise<number>;
  /** All keys of the crawl, some at a time, by a scan of every node; each may come twice. */
  allKeys(): AsyncIterable<string[]>;
  /** Removes all keys but this one. */
  removeKeys(kept: string): Promise<void>;
  close(): void;
}

/** Who looks is no member: it has no leases and no archive. */
const NOBODY = 'nobody';
const KEYS_AT_ONCE = 1_000;

/** Makes nothing. Throws a StoreFault when the server cannot be reached, or when another program made the crawl. */
export const openConnection = async (place: LookOptions): Promise<Connection> => {
  const { crawl, frontier, say } = place;
  const keys = createKeys(crawl, NOBODY);
  const connected = await connectRedis(place.url);
  const { client, where } = connected;
  const wire = createWire({ ...connected, keys, member: NOBODY, frontier, say });
  try {
    await shardsOf(wire, place);
  } catch (error) {
    wire.close();
    throw error;
  }
  const pages = openPages(pathOf(place, PAGES_DB));
  const queue = frontier === 'files' ? openFilesReader(wire, place) : storeReader;

  /** A command that is no step: it is not repeated, and what goes wrong is told as elsewhere. */
  const plainly = async <T>(command: () => Promise<T>): Promise<T> => {
    try {
      return await command();
    } catch (error) {
      throw isGone(error as Error) ? goneFault(where, error as Error) : redisFault(error, where);
    }
  };
  async function* allKeys(): AsyncGenerator<string[], void, undefined> {
    const nodes: readonly Redis[] = client instanceof Cluster ? client.nodes('master') : [client];
    // No name of a crawl has a character that means something in a pattern.
    const pattern = `{${crawl}[:}]*`;
    for (const node of nodes) {
      for (let cursor = '0'; ; ) {
        const [next, names] = await plainly(() => node.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE));
        if (names.length > 0) yield names;
        if ((cursor = next) === '0') break;
      }
    }
  }
  return {
    place,
    keys,
    wire,
    pages,
    queue,
    where,
    allKeys,
    shards: async () => {
      const shards = await shardsOf(wire, place);
      if (shards === null)
        throw new StoreFault(
          `Redis at ${where} has no crawl "${crawl}"`,
          'if it was stopped before it began, "gossamer resume" begins it; otherwise look at --store and --name, or start it with "gossamer crawl"',
        );
      return shards;
    },
    removeKeys: async (kept) => {
      for await (const names of allKeys()) {
        const others = names.filter((name) => name !== kept);
        const bySlot = Map.groupBy(others, (name) => name.slice(0, name.indexOf('}')));
        await plainly(() => Promise.all([...bySlot.values()].map((some) => client.unlink(...some))));
      }
    },
    close: () => {
      pages.close();
      queue.close();
      wire.close();
    },
  };
};

export const goneFault = (where: string, error: Error): StoreFault =>
  new StoreFault(`Redis at ${where} does not answer (${goneBecause(error)})`, 'see that it runs, then run this again');
