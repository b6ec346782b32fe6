/** Robots rules on their way into the database and out of it. */

import type { Found } from '../../contract/walk.ts';
import { digestOf, withoutLongRules, withRules, type CarriedRobots } from '../../model/long-rules.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { rulesMissing } from '../rules-missing.ts';
import type { Rows } from './connection.ts';
import { jsonOf, textsOf } from './values.ts';

/** As `keep-robots.sql` reads them. */
export const robotsJson = (records: readonly CarriedRobots[]): string =>
  jsonOf(
    records.map((one) => {
      const { record, long } = withoutLongRules(one);
      return long ? { ...record, text: long.text } : record;
    }),
  );

export const robotsOf = async (rows: Rows, origins: readonly string[]): Promise<(RobotsRecord | null)[]> => {
  const found = await rows<{ record: CarriedRobots }>(
    'SELECT @crawl.record(r) AS record FROM @crawl.robots r WHERE r.origin = ANY ($1::text[])',
    [textsOf(origins)],
  );
  const known = new Map<string, RobotsRecord | null>();
  for (const { record } of found) known.set(record.origin, await wholeRobots(rows, record));
  return origins.map((origin) => known.get(origin) ?? null);
};

/** With its rules; null when these are missing. */
const wholeRobots = async (rows: Rows, record: CarriedRobots): Promise<RobotsRecord | null> => {
  const digest = digestOf(record);
  if (digest === null) return withRules(record, null);
  const [found] = await rows<{ text: string }>('SELECT text FROM @crawl.rules WHERE digest = $1', [digest]);
  return withRules(record, found?.text ?? null);
};

/** Long rules are a piece of their own: a hundred of them would be 50 MiB. */
export async function* robotsPieces(rows: Rows, records: readonly CarriedRobots[]): AsyncGenerator<Found, void> {
  const short = records.filter((record) => digestOf(record) === null);
  yield { kind: 'robots', records: short.map((record) => withRules(record, null)!) };
  for (const record of records) {
    if (digestOf(record) === null) continue;
    const whole = await wholeRobots(rows, record);
    yield whole ? { kind: 'robots', records: [whole] } : rulesMissing(record.origin);
  }
}
