/** The robots rules of origins, as rows. */

import type { RobotsRecord } from '../../model/robots.ts';
import type { Connection } from './schema.ts';
import { eachRow, sqlFile } from './statements.ts';

const COLUMNS = 'origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms, failures';
const PUT_SQL = sqlFile('put-robots');

type RobotsRow = readonly [string, number, number, RobotsRecord['verdict'], string, number | null, number];

const toRecord = ([origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs, failures]: RobotsRow): RobotsRecord => ({
  origin,
  fetchedAt,
  expiresAt,
  verdict,
  rules,
  crawlDelayMs,
  failures,
});

/** Null when the rules of this origin were never read. */
export const readRobots = ({ sql }: Pick<Connection, 'sql'>, origin: string): RobotsRecord | null => {
  const row = sql(`SELECT ${COLUMNS} FROM robots WHERE origin = ?`, 'arrays').get(origin);
  return row ? toRecord(row as unknown as RobotsRow) : null;
};

export const writeRobots = ({ sql }: Pick<Connection, 'sql'>, robots: RobotsRecord): void => {
  const { origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs, failures } = robots;
  sql(PUT_SQL).run(origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs, failures);
};

export function* eachRobots({ db }: Connection): Generator<RobotsRecord> {
  for (const row of eachRow<RobotsRow>(db, `SELECT ${COLUMNS} FROM robots ORDER BY rowid`)) yield toRecord(row);
}
