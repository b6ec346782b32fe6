/** The robots rules of origins: those asked for, or all of them. */

import { digestOf, withRules, type CarriedRobots } from '../../model/long-rules.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { shardOf } from '../../url/shard.ts';
import { siteOf } from '../../url/site.ts';
import type { Connection } from './connection.ts';
import { pairs, reading, type Wire } from './wire.ts';

/** Records read in one go, of some KiB each: long rules are not in them. */
const RECORDS_AT_ONCE = 50;

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
  const records = texts.flat().map((text) => (text === null ? null : (JSON.parse(text) as CarriedRobots)));
  return Promise.all(records.map((record, i) => record && wholeRobots(wire, originShard(origins[i]!, count), record)));
};

/** The text of long rules in that shard; null when it is not there. */
export const rulesText = async (wire: Wire, shard: number, digest: string): Promise<string | null> =>
  (await wire.read(shard, ['HGET', 'rules', digest]))[0] as string | null;

/** With its rules; null when these are missing. */
export const wholeRobots = async (wire: Wire, shard: number, record: CarriedRobots): Promise<RobotsRecord | null> => {
  const digest = digestOf(record);
  return withRules(record, digest === null ? null : await rulesText(wire, shard, digest));
};

/** The records of all origins of a shard as they are written, some at a time; one may come twice if some are added. */
export async function* recordsIn(
  { wire }: Connection,
  shard: number,
): AsyncGenerator<[origin: string, text: string][], void, undefined> {
  for (let cursor = '0'; ; ) {
    const [[next, flat]] = (await wire.read(shard, ['HSCAN', 'robots', cursor, 'COUNT', RECORDS_AT_ONCE])) as [
      [string, string[]],
    ];
    if (flat.length > 0) yield pairs(flat);
    if ((cursor = next) === '0') return;
  }
}

/** Null for a text that is not the record of that origin. */
export const readRecord = (origin: string, text: string): CarriedRobots | null => {
  try {
    const record = JSON.parse(text) as CarriedRobots;
    return record.origin === origin && URL.canParse(origin) ? record : null;
  } catch {
    return null;
  }
};
