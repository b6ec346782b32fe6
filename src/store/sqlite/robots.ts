/** The robots rules of origins, as rows. */

import { digestOf, withoutLongRules, withRules, type CarriedRobots } from '../../model/long-rules.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Connection } from './schema.ts';
import { eachRow, sqlFile } from './statements.ts';

const COLUMNS = 'origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms, failures, digest';
const PUT_SQL = sqlFile('put-robots');

type RobotsRow = readonly [
  string,
  number,
  number,
  RobotsRecord['verdict'],
  string,
  number | null,
  number,
  string | null,
];

const toRecord = (row: RobotsRow): CarriedRobots => {
  const [origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs, failures, digest] = row;
  return {
    origin,
    fetchedAt,
    expiresAt,
    verdict,
    rules: digest === null ? rules : { digest },
    crawlDelayMs,
    failures,
  };
};

type Reading = Pick<Connection, 'sql'>;

/** As a visit carries it. Null when the rules of this origin were never read. */
export const readRobots = ({ sql }: Reading, origin: string): CarriedRobots | null => {
  const row = sql(`SELECT ${COLUMNS} FROM robots WHERE origin = ?`, 'arrays').get(origin);
  return row ? toRecord(row as unknown as RobotsRow) : null;
};

/** The text of long rules; null when it is not there. */
export const readRules = ({ sql }: Reading, digest: string): string | null =>
  (sql('SELECT text FROM rules WHERE digest = ?').get(digest) as { text: string } | undefined)?.text ?? null;

/** With its rules; null when these are missing. */
export const wholeRobots = (reading: Reading, record: CarriedRobots): RobotsRecord | null => {
  const digest = digestOf(record);
  return withRules(record, digest === null ? null : readRules(reading, digest));
};

export const writeRobots = ({ sql }: Reading, robots: CarriedRobots): void => {
  const { record, long } = withoutLongRules(robots);
  if (long) sql('INSERT OR IGNORE INTO rules (digest, text) VALUES (?, ?)').run(long.digest, long.text);
  const { origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs, failures } = record;
  const text = typeof rules === 'string' ? rules : '';
  sql(PUT_SQL).run(origin, fetchedAt, expiresAt, verdict, text, digestOf(record), crawlDelayMs, failures);
};

export function* eachRobots({ db }: Connection): Generator<CarriedRobots> {
  for (const row of eachRow<RobotsRow>(db, `SELECT ${COLUMNS} FROM robots ORDER BY rowid`)) yield toRecord(row);
}
