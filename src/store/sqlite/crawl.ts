/** A crawl in the embedded store, opened to look at it, check it, or move it. */

import { StoreFault } from '../../contract/fault.ts';
import type { Filling, StoredCrawl } from '../../contract/stored-crawl.ts';
import type { SiteQuery, SiteView } from '../../contract/views.ts';
import { anchorNow, createClock } from '../../lib/clock.ts';
import { settledTotal, type Census } from '../../model/census.ts';
import { CRAWL_DB, pathOf } from '../files.ts';
import type { LookOptions } from '../options.ts';
import { censusOf } from './census.ts';
import { storeFault } from './fault.ts';
import { fill, type SqliteFilling } from './fill.ts';
import { readEntries, writeEntry } from './journal.ts';
import { readNote, writeNote } from './notes.ts';
import { linkOf } from './read-link.ts';
import { pagesAfter } from './read-pages.ts';
import { sitesOf } from './read-sites.ts';
import { repair } from './repair.ts';
import { readRobots, wholeRobots } from './robots.ts';
import { openDatabase, openToRead, shardsIn, type Connection } from './schema.ts';
import { readTally, type Tally } from './tally.ts';
import { walk } from './walk.ts';

/** The database is opened when it is read: one that is damaged or missing is told of then. */
export const openSqliteCrawl = async (options: LookOptions): Promise<StoredCrawl> => {
  const path = pathOf(options, CRAWL_DB);
  let kept: Connection | null = null;
  let filling: SqliteFilling | null = null;

  const open = (): Connection => {
    const connection = openToRead(path);
    if (connection) return connection;
    throw new StoreFault(`there is no crawl in "${path}"`, 'it was stopped before it began: a resume begins it');
  };
  const read = <T>(work: (connection: Connection) => T): Promise<T> => faulty(() => work((kept ??= open())));
  /** The file may be renamed when a move has asked for this, so nothing stays open. */
  const readOnce = <T>(connection: () => Connection | null, work: (connection: Connection) => T): Promise<T | null> =>
    faulty(() => {
      const opened = connection();
      return opened && closing(opened, work);
    });

  async function* sites(query: SiteQuery): AsyncGenerator<SiteView, void, undefined> {
    const views = await read((connection) => sitesOf(connection, query));
    for (let next = await read(() => views.next()); !next.done; next = await read(() => views.next())) yield next.value;
  }

  const begin = (): Filling => {
    const there = options.isFresh ? null : openToRead(path);
    there?.db.close();
    if (there) throw new StoreFault(`"${path}" has a crawl already`, 'choose another directory');
    const begun = (filling = fill(path, options.shards));
    const ending = (work: () => Promise<void>) => async (): Promise<void> => {
      filling = null;
      await work();
    };
    return { take: begun.take, end: ending(begun.end), close: ending(begun.close) };
  };

  return {
    census: async () => filling?.census() ?? (await readOnce(open, censusNow))!,
    link: (url, site) => read((connection) => atOneMoment(connection, () => linkOf(connection, url, site))),
    sites,
    robots: (origins) =>
      read((connection) =>
        origins.map((origin) => {
          const record = readRobots(connection, origin);
          return record && wholeRobots(connection, record);
        }),
      ),
    pagesAfter: (row, filter) => read((connection) => pagesAfter(connection, row, filter)),
    note: (name) =>
      readOnce(
        () => openToRead(path),
        ({ sql }) => readNote(sql, name),
      ),
    keepNote: (name, text) =>
      faulty(() =>
        closing(openDatabase(path, options.shards), ({ sql }) => {
          writeNote(sql, name, text);
          return readNote(sql, name)!;
        }),
      ),
    journal: async (after) =>
      (await readOnce(
        () => openToRead(path),
        ({ sql }) => readEntries(sql, after),
      )) ?? [],
    write: (entry) =>
      faulty(() =>
        closing(openDatabase(path, options.shards), ({ sql }) => writeEntry(sql, entry, nowAfter(readTally(sql)))),
      ),
    members: async () => {
      const census = await readOnce(() => openToRead(path), censusNow);
      if (!census) return [];
      const settled = settledTotal(census);
      // One directory alone can work on it; whether it does is told by the lock there.
      return [{ member: options.member, seenAt: 0, isLive: false, settled, about: null }];
    },
    walk: (parts) => walk(open, path, parts),
    fill: () => faulty(begin),
    repair: (plan, onProgress) =>
      faulty(() => closing(openDatabase(path), (connection) => repair(connection, plan, onProgress))),
    close: async () => {
      kept?.db.close();
      kept = null;
    },
  };
};

const faulty = async <T>(work: () => T): Promise<T> => {
  try {
    return work();
  } catch (error) {
    throw storeFault(error);
  }
};

const closing = <T>(connection: Connection, work: (connection: Connection) => T): T => {
  try {
    return work(connection);
  } finally {
    connection.db.close();
  }
};

const censusNow = ({ db, sql }: Connection): Census => {
  const tally = readTally(sql);
  return censusOf({ sql, tally, shards: shardsIn(db) }, nowAfter(tally));
};

/** This machine's time, never before the last moment that the store recorded. */
const nowAfter = ({ moment }: Tally): number => createClock(anchorNow(moment)).now();

/** Several short reads that must agree with each other. */
const atOneMoment = <T>({ db }: Connection, work: () => T): T => {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec('COMMIT');
  }
};
