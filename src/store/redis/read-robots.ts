/** The robots rules of origins: those asked for, or all of them. */

import type { RobotsRecord } from '../../model/robots.ts';
import { shardOf } from '../../url/shard.ts';
import { siteOf } from '../../url/site.ts';
import type { Connection } from './connection.ts';
import { pairs, reading } from './wire.ts';

/** Records of rules read in one go, of at most 64 KiB each. */
const RULES_AT_ONCE = 50;

/** Rules lie with the site of the origin's host. */
export const originShard = (origin: string, shards: number): number =>
  shardOf(siteOf(new URL(origin).hostname), shards);

export const robotsOf = async (
  { wire, shards }: Connection,
  origins: readonly string[],
): Promise<(RobotsRecord | null)[]> => {
  const count = await shards();
  const texts = (await wire.all(
    origins.map((origin) => reading(originShard(origin, count), [['HGET', 'robots', origin]])),
  )) as (string | null)[][];
  return texts.flat().map((text) => (text === null ? null : (JSON.parse(text) as RobotsRecord)));
};

/** The rules of all origins of a shard as they are written, some at a time; one may come twice if some are added. */
export async function* rulesIn(
  { wire }: Connection,
  shard: number,
): AsyncGenerator<[origin: string, text: string][], void, undefined> {
  for (let cursor = '0'; ; ) {
    const [[next, flat]] = (await wire.read(shard, ['HSCAN', 'robots', cursor, 'COUNT', RULES_AT_ONCE])) as [
      [string, string[]],
    ];
    if (flat.length > 0) yield pairs(flat);
    if ((cursor = next) === '0') return;
  }
}

/** Null for a text that is not the rules of that origin. */
export const readRules = (origin: string, text: string): RobotsRecord | null => {
  try {
    const record = JSON.parse(text) as RobotsRecord;
    return record.origin === origin && URL.canParse(origin) ? record : null;
  } catch {
    return null;
  }
};
