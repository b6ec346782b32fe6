/**
 * `node bench/layouts.ts`: how should waiting links lie on disk? The same links on four layouts, as a crawl grows.
 *
 * Each layout has a row per site that every admission and every claim writes anyway (its counter, its clock); what
 * differs is where the links are. Pages of log written per link is the figure that no other load of the machine can
 * disturb.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { dropFirst, firstOf, pushLast } from '../src/lib/long-queue.ts';
import { writeBytes, writeCount } from '../src/lib/units.ts';
import { preparing } from '../src/store/sqlite/statements.ts';
import { packsOf } from '../src/store/sqlite/queue.ts';

const { values } = parseArgs({
  options: { links: { type: 'string', default: '100000,10000000' }, sites: { type: 'string', default: '100000' } },
});
const SITES = Number(values.sites);
const BATCHES = 100;
const PAGES_PER_BATCH = 40;
const OWN_LINKS = 8;
const OTHER_LINKS = 4;
const LINKS_PER_BATCH = PAGES_PER_BATCH * (OWN_LINKS + OTHER_LINKS);
const VISITS_PER_BATCH = 100;
const BLOCK_CHARS_MAX = 3_500;

const home = mkdtempSync(join(tmpdir(), 'gossamer-layouts-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

interface Layout {
  readonly tables: string;
  open(db: DatabaseSync): {
    /** Puts new links at the end of a site's queue. */
    append(site: number, via: string, links: readonly string[]): void;
    /** Takes the first link of a site that has one. */
    take(site: number): void;
  };
}

const SITE =
  'CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT, waiting INTEGER DEFAULT 0, due_at REAL DEFAULT 0, pace BLOB';

const LAYOUTS: Readonly<Record<string, Layout>> = {
  'a row per link': {
    tables: `${SITE}); CREATE TABLE link (site INTEGER, n INTEGER, via TEXT, url TEXT, PRIMARY KEY (site, n)) WITHOUT ROWID`,
    open: (db) => {
      const add = db.prepare('INSERT INTO link (site, n, via, url) VALUES (?, ?, ?, ?)');
      const first = db.prepare('SELECT n, via, url FROM link WHERE site = ? ORDER BY n LIMIT 1');
      const drop = db.prepare('DELETE FROM link WHERE site = ? AND n = ?');
      const count = db.prepare('UPDATE site SET waiting = waiting + ?, due_at = due_at + 1 WHERE id = ?');
      let n = 0;
      return {
        append: (site, via, links) => {
          for (const url of links) add.run(site, n++, via, url);
          count.run(links.length, site);
        },
        take: (site) => {
          const row = first.get(site);
          if (row) drop.run(site, row.n as number);
          count.run(-1, site);
        },
      };
    },
  },
  'a chain of blocks': {
    tables: `${SITE}, head INTEGER, head_at INTEGER DEFAULT 0, tail INTEGER); CREATE TABLE block (id INTEGER PRIMARY KEY, next INTEGER, via TEXT, links TEXT)`,
    open: (db) => {
      const line = lineOf(db);
      const ends = db.prepare(
        'UPDATE site SET waiting = waiting + ?, due_at = due_at + 1, head = ?, head_at = ?, tail = ? WHERE id = ?',
      );
      return {
        append: (site, via, links) => {
          const at = line.ends(site);
          line.insert(at, via, `${links.join('\n')}\n`);
          ends.run(links.length, at.head, at.head_at, at.tail, site);
        },
        take: (site) => {
          const at = line.ends(site);
          if (at.head !== null) line.takeFrom(at);
          ends.run(-1, at.head, at.head_at, at.tail, site);
        },
      };
    },
  },
  'a chain of blocks, its end in the row of the site': {
    tables: `${SITE}, head INTEGER, head_at INTEGER DEFAULT 0, tail INTEGER, rest TEXT NOT NULL DEFAULT ''); CREATE TABLE block (id INTEGER PRIMARY KEY, next INTEGER, via TEXT, links TEXT)`,
    open: (db) => {
      const line = lineOf(db);
      const read = db.prepare('SELECT head, head_at, tail, rest FROM site WHERE id = ?');
      const ends = db.prepare(
        'UPDATE site SET waiting = waiting + ?, due_at = due_at + 1, head = ?, head_at = ?, tail = ?, rest = ? WHERE id = ?',
      );
      return {
        append: (site, via, links) => {
          const at = read.get(site) as unknown as Ends & { rest: string };
          at.rest += `>${via}\n${links.join('\n')}\n`;
          if (at.rest.length > REST_CHARS_MAX) {
            line.insert(at, '', at.rest);
            at.rest = '';
          }
          ends.run(links.length, at.head, at.head_at, at.tail, at.rest, site);
        },
        take: (site) => {
          const at = read.get(site) as unknown as Ends & { rest: string };
          if (at.head !== null) line.takeFrom(at);
          else at.rest = restWithoutFirst(at.rest);
          ends.run(-1, at.head, at.head_at, at.tail, at.rest, site);
        },
      };
    },
  },
  'blocks, their numbers in the row of the site': {
    tables: `${SITE}, line TEXT NOT NULL DEFAULT '', head_at INTEGER DEFAULT 0); CREATE TABLE pack (id INTEGER PRIMARY KEY, blocks TEXT); CREATE TABLE block (id INTEGER PRIMARY KEY, via TEXT, links TEXT)`,
    open: (db) => {
      const read = db.prepare('SELECT line, head_at FROM site WHERE id = ?');
      const ends = db.prepare(
        'UPDATE site SET waiting = waiting + ?, due_at = due_at + 1, line = ?, head_at = ? WHERE id = ?',
      );
      const add = db.prepare('INSERT INTO block (via, links) VALUES (?, ?)');
      const get = db.prepare('SELECT links FROM block WHERE id = ?');
      const drop = db.prepare('DELETE FROM block WHERE id = ?');
      const packs = packsOf({ sql: preparing(db) });
      return {
        append: (site, via, links) => {
          const at = read.get(site) as { line: string; head_at: number };
          ends.run(
            links.length,
            pushLast(at.line, Number(add.run(via, `${links.join('\n')}\n`).lastInsertRowid), packs),
            at.head_at,
            site,
          );
        },
        take: (site) => {
          const at = read.get(site) as { line: string; head_at: number };
          const head = firstOf(at.line);
          if (head !== null) {
            const { links } = get.get(head) as { links: string };
            at.head_at = links.indexOf('\n', at.head_at) + 1;
            if (at.head_at >= links.length) {
              drop.run(head);
              [at.line, at.head_at] = [dropFirst(at.line, packs), 0];
            }
          }
          ends.run(-1, at.line, at.head_at, site);
        },
      };
    },
  },
};

const REST_CHARS_MAX = 2_000;

const restWithoutFirst = (rest: string): string => {
  const viaEnd = rest.indexOf('\n') + 1;
  const end = rest.indexOf('\n', viaEnd) + 1;
  return rest[end] === '>' || end >= rest.length ? rest.slice(end) : rest.slice(0, viaEnd) + rest.slice(end);
};

interface Ends {
  head: number | null;
  head_at: number;
  tail: number | null;
}

const lineOf = (
  db: DatabaseSync,
): {
  ends: (site: number) => Ends;
  insert: (at: Ends, via: string, links: string) => void;
  takeFrom: (at: Ends) => void;
} => {
  const add = db.prepare('INSERT INTO block (via, links) VALUES (?, ?)');
  const chain = db.prepare('UPDATE block SET next = ? WHERE id = ?');
  const read = db.prepare('SELECT head, head_at, tail FROM site WHERE id = ?');
  const get = db.prepare('SELECT next, via, links FROM block WHERE id = ?');
  const drop = db.prepare('DELETE FROM block WHERE id = ?');
  return {
    ends: (site) => read.get(site) as unknown as Ends,
    insert: (at, via, links) => {
      for (let from = 0; from < links.length; ) {
        const to =
          links.length - from <= BLOCK_CHARS_MAX ? links.length : links.lastIndexOf('\n', from + BLOCK_CHARS_MAX) + 1;
        const id = Number(add.run(via, links.slice(from, to)).lastInsertRowid);
        if (at.tail === null) [at.head, at.head_at] = [id, 0];
        else chain.run(id, at.tail);
        at.tail = id;
        from = to;
      }
    },
    takeFrom: (at) => {
      const block = get.get(at.head) as { next: number | null; links: string };
      const start = block.links[at.head_at] === '>' ? block.links.indexOf('\n', at.head_at) + 1 : at.head_at;
      at.head_at = block.links.indexOf('\n', start) + 1;
      if (at.head_at < block.links.length) return;
      drop.run(at.head);
      [at.head, at.head_at] = [block.next, 0];
      if (block.next === null) at.tail = null;
    },
  };
};

/** xorshift32: the same sites in the same order for every layout. The square makes some of them hot. */
const createDice = (): (() => number) => {
  let state = 12345;
  const below = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % SITES;
  };
  return () => Math.floor((below() * below()) / SITES);
};

const inBatch = (db: DatabaseSync, begin: StatementSync, commit: StatementSync, work: () => void): number => {
  const cpu = process.cpuUsage();
  begin.run();
  work();
  commit.run();
  const { user, system } = process.cpuUsage(cpu);
  void db;
  return user + system;
};

console.log(
  `${writeCount(SITES)} sites; ${BATCHES} batches of ${LINKS_PER_BATCH} links and ${VISITS_PER_BATCH} visits at each size\n`,
);
console.log(
  '| layout | waiting links | admit: pages of log per link | admit: us of CPU per link | claim: pages of log per visit | claim: us of CPU per visit | database |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const [name, layout] of Object.entries(LAYOUTS)) {
  const path = join(home, 'layout.db');
  const db = new DatabaseSync(path);
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 0',
  );
  db.exec(layout.tables);
  db.exec('BEGIN');
  const addSite = db.prepare('INSERT INTO site (id, name, pace) VALUES (?, ?, zeroblob(80))');
  for (let site = 0; site < SITES; site++) addSite.run(site, `site-${site}.example`);
  db.exec('COMMIT');
  const { append, take } = layout.open(db);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const someSite = createDice();
  let next = 0;
  const url = (site: number): string => `2 0 0 0 https://www.site-${site}.example/section/page-${next++}.html`;
  const admit = (): number =>
    inBatch(db, begin, commit, () => {
      for (let page = 0; page < PAGES_PER_BATCH; page++) {
        const site = someSite();
        const via = `https://www.site-${site}.example/section/page-${next}.html`;
        append(
          site,
          via,
          Array.from({ length: OWN_LINKS }, () => url(site)),
        );
        for (let i = 0; i < OTHER_LINKS; i++) {
          const other = someSite();
          append(other, via, [url(other)]);
        }
      }
    });
  const frames = (work: () => void): number => {
    checkpoint.get();
    work();
    return Math.floor(statSync(`${path}-wal`).size / 4_120); // a page and the head of its frame
  };
  for (const links of values.links.split(',').map(Number)) {
    for (let batch = 0; next < links; batch++) {
      admit();
      if (batch % 20 === 0) checkpoint.get();
    }
    let admitUs = 0;
    let claimUs = 0;
    const admitFrames = frames(() => {
      for (let i = 0; i < BATCHES; i++) admitUs += admit();
    });
    const claimFrames = frames(() => {
      for (let i = 0; i < BATCHES; i++)
        claimUs += inBatch(db, begin, commit, () => {
          for (let visit = 0; visit < VISITS_PER_BATCH; visit++) take(someSite());
        });
    });
    console.log(
      `| ${name} | ${writeCount(links)} | ${(admitFrames / BATCHES / LINKS_PER_BATCH).toFixed(2)} | ${(admitUs / BATCHES / LINKS_PER_BATCH).toFixed(1)} | ` +
        `${(claimFrames / BATCHES / VISITS_PER_BATCH).toFixed(2)} | ${(claimUs / BATCHES / VISITS_PER_BATCH).toFixed(1)} | ${writeBytes(statSync(path).size)} |`,
    );
  }
  db.close();
  rmSync(path);
}
