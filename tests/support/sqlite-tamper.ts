/** Damage to a crawl in the embedded store, done past all its code. */

import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SITE_STATE } from '../../src/store/site-state.ts';
import { fingerprint } from '../../src/url/fingerprint.ts';
import type { StoredPlace, Tamper } from '../contract/stored-crawl.ts';

export interface SqlitePlace extends StoredPlace {
  readonly dir: string;
}

const sql = ({ dir }: SqlitePlace, text: string, ...values: SQLInputValue[]): unknown[] => {
  const db = new DatabaseSync(join(dir, 'crawl.db'));
  try {
    return db.prepare(text).all(...values);
  } finally {
    db.close();
  }
};

/** The queues of these crawls are short: one block each. */
const BLOCK_OF = 'id = (SELECT CAST(queue AS INTEGER) FROM site WHERE name = ?)';
const COUNTERS: Readonly<Record<string, string>> = {
  'sites parked': 'sitesParked',
  'sites held': 'sitesHeld',
  'settled fetched': 'settled.fetched',
  'settled gave-up': 'settled."gave-up"',
};

const addToCounter = (place: SqlitePlace, counter: string, by: number): unknown => {
  const path = `$.${COUNTERS[counter] ?? counter}`;
  return sql(
    place,
    "UPDATE meta SET value = json_set(value, ?1, coalesce(json_extract(value, ?1), 0) + ?2) WHERE name = 'tally'",
    path,
    by,
  );
};

const printOf = (url: string): Uint8Array => new Uint8Array(BigUint64Array.of(fingerprint(url)).buffer);
const addPrint = (place: SqlitePlace, url: string): unknown =>
  sql(place, 'INSERT INTO seen (fingerprints) VALUES (?)', printOf(url));

const otherColumns = (place: SqlitePlace): string =>
  (sql(place, "SELECT name FROM pragma_table_info('page')") as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== 'id')
    .join(', ');

export const SQLITE_TAMPER: Partial<Tamper<SqlitePlace>> = {
  setWaiting: (place, site, count) => sql(place, 'UPDATE site SET waiting = ? WHERE name = ?', count, site),
  setPages: (place, site, count) => sql(place, 'UPDATE site SET pages = ? WHERE name = ?', count, site),
  setState: (place, site, state) =>
    sql(place, 'UPDATE site SET state = ? WHERE name = ?', state === null ? 77 : SITE_STATE[state], site),
  setShard: (place, site, shard) => sql(place, 'UPDATE site SET shard = ? WHERE name = ?', shard, site),
  loseLink: (place, site, url) => {
    const [{ links }] = sql(place, `SELECT links FROM block WHERE ${BLOCK_OF}`, site) as [{ links: string }];
    const kept = links.split('\n').filter((line) => !line.endsWith(` ${url}`));
    return sql(place, `UPDATE block SET links = ? WHERE ${BLOCK_OF}`, kept.join('\n'), site);
  },
  addLink: (place, site, url) =>
    sql(place, `UPDATE block SET links = links || ? WHERE ${BLOCK_OF}`, `0 0 0 0 ${url}\n`, site),
  breakQueue: (place, site) => sql(place, `UPDATE block SET links = 'what' WHERE ${BLOCK_OF}`, site),
  loseLease: (place, site) => sql(place, 'UPDATE site SET leased = NULL WHERE name = ?', site),
  breakLease: (place, site) => sql(place, "UPDATE site SET leased = 'what' WHERE name = ?", site),
  forgetUrl: (place, url) => {
    for (const row of sql(place, 'SELECT id, fingerprints FROM seen') as { id: number; fingerprints: Uint8Array }[]) {
      const prints = new BigUint64Array(row.fingerprints.slice().buffer).filter((print) => print !== fingerprint(url));
      sql(place, 'UPDATE seen SET fingerprints = ? WHERE id = ?', new Uint8Array(prints.buffer), row.id);
    }
  },
  addUrl: addPrint,
  repeatUrl: addPrint,
  losePage: (place, url) => sql(place, 'DELETE FROM page WHERE url = ?', url),
  repeatPage: (place, url) => {
    const columns = otherColumns(place);
    return sql(place, `INSERT INTO page (${columns}) SELECT ${columns} FROM page WHERE url = ?`, url);
  },
  orphanPage: (place, url) => sql(place, 'UPDATE page SET site = 77 WHERE url = ?', url),
  misplacePage: (place, url) => sql(place, 'UPDATE page SET url_key = url_key + 1 WHERE url = ?', url),
  addToPages: addToCounter,
  addToLinks: addToCounter,
  addToSites: addToCounter,
  loseRules: (place) => sql(place, 'DELETE FROM rules'),
  addStrayBlock: (place, site) =>
    sql(place, 'INSERT INTO block (read_to, via, links) VALUES (0, ?, ?)', '', `0 0 0 0 https://${site}/stray\n`),
  ruin: (place) => sql(place, "UPDATE seen SET fingerprints = x'00'"),
};
