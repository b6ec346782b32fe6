/** Which fixed slice of the sites does a site belong to? */

import { fingerprint } from './fingerprint.ts';
import { siteOfQueue } from './side-queue.ts';

/** More than any thread count, so that changing thread counts moves no link. */
export const SHARDS = 64;

/**
 * A queue beside a site is where its site is. The low half of the fingerprint is plenty, and a number is cheaper to
 * divide than a bigint.
 */
export const shardOf = (queue: string, shards: number = SHARDS): number =>
  Number(BigInt.asUintN(32, fingerprint(siteOfQueue(queue)))) % shards;
