/** A crawl opened to look at it, or to move it: the connection, and what the crawl says of itself. */

import { StoreFault } from '../../frontier/store.ts';
import type { SharedPlace } from '../shared-crawl.ts';
import { pairs } from './census.ts';
import { connectRedis, type Client } from './connect.ts';
import { createKeys, type Keys } from './keys.ts';
import { checkLayout, readLayout, type Layout } from './layout.ts';
import { createWire, type Wire } from './wire.ts';

export interface Look {
  readonly place: SharedPlace;
  readonly keys: Keys;
  readonly wire: Wire;
  readonly client: Client;
  /** `host:port`, for people. */
  readonly where: string;
  /** What the crawl says of itself; null when there is none. */
  layout(): Promise<Layout | null>;
  /** How many shards the crawl has; throws a StoreFault when there is none. */
  shards(): Promise<number>;
  /** The same, once it was asked for. */
  shardsKnown: number | null;
}

/** Who looks is no member: it has no leases and no archive. */
const NOBODY = 'nobody';

/**
 * Makes nothing. Throws a StoreFault when the server cannot be reached, or the crawl is one that a newer program made.
 */
export const openLook = async (place: SharedPlace): Promise<Look> => {
  const keys = createKeys(place.crawl, NOBODY);
  const { client, where, warnings } = await connectRedis(place.url);
  const wire = createWire({ client, where, warnings, keys, member: NOBODY, clock: null, say: place.say });
  const look: Look = {
    place,
    keys,
    wire,
    client,
    where,
    shardsKnown: null,
    layout: async () => {
      const [[, flat]] = (await wire.all([{ name: 'meta', shard: 0, args: [] }])) as [[string, string[]]];
      const said = new Map(pairs(flat));
      return said.has('layout')
        ? readLayout(['layout', 'shards', 'moving'].map((name) => said.get(name) ?? null))
        : null;
    },
    shards: async () => {
      if (look.shardsKnown !== null) return look.shardsKnown;
      const there = await look.layout();
      if (there === null)
        throw new StoreFault(
          `Redis at ${where} has no crawl "${place.crawl}"`,
          'look at --store and --name, or start it with "gossamer crawl"',
        );
      return (look.shardsKnown = there.shards);
    },
  };
  try {
    const there = await look.layout();
    if (there !== null) checkLayout(place.crawl, there);
    return look;
  } catch (error) {
    wire.close();
    throw error;
  }
};
