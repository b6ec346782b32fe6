/** The crawl that is moved, as it lies in its store: stopped, and not changed. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addDead } from '../../archive/dead-list.ts';
import { openArchive } from '../../archive/files.ts';
import type { Archive } from '../../archive/archive.ts';
import { StoreFault } from '../../frontier/store.ts';
import { anchorNow, createClock } from '../../lib/clock.ts';
import type { ArchiveEnd, Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { kindOf } from '../../store/place.ts';
import { openSharedCrawl, openSharedStore, type Piece, type SharedCrawl } from '../../store/shared.ts';
import { isUnmade } from '../../store/sqlite/check.ts';
import { lastMomentIn, piecesOf } from '../../store/sqlite/pieces.ts';
import { openSqliteReader } from '../../store/sqlite/reader.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import type { StoreStart } from '../../threads/messages.ts';
import { FILES } from '../folder.ts';
import { checkNotMoved } from '../shared-notes.ts';
import { sharedPlace } from '../store-place.ts';

export interface Source {
  readonly census: Census;
  /** How far its clock is ahead of this machine's, rather too little than too much. */
  readonly aheadMs: number;
  pieces(): AsyncIterable<Piece> | Iterable<Piece>;
  /** The state of the crawl now: nobody may have changed it meanwhile. */
  look(): Promise<Census>;
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly dir: string;
  readonly from: StoreStart;
  readonly say: (text: string) => void;
}

export const openSource = (options: SourceOptions): Promise<Source> =>
  kindOf(options.from.url) === 'sqlite' ? openEmbedded(options) : openShared(options);

const NOT_BEGUN = 'has no store yet: it was stopped before it began';

const openEmbedded = async ({ dir, say }: SourceOptions): Promise<Source> => {
  const path = join(dir, FILES.store);
  if (!existsSync(path) || isUnmade(path))
    throw new UsageError(`crawl "${dir}" ${NOT_BEGUN}; "gossamer resume ${dir}" begins it`);
  const look = async (): Promise<Census> => {
    const reader = openSqliteReader(path);
    try {
      return reader.census();
    } finally {
      reader.close();
    }
  };
  const { leased } = await look();
  if (leased > 0) {
    // As a resume does; this directory is locked, so nobody is on these visits any more.
    say(
      `the crawl was killed: ${leased === 1 ? 'a link that was' : `${leased} links that were`} under way ${leased === 1 ? 'waits' : 'wait'} again`,
    );
    await openSqliteStore({
      path,
      clock: (notBeforeMs) => createClock(anchorNow(notBeforeMs)),
      archive: archiveOf(dir),
    }).close();
  }
  return {
    census: await look(),
    aheadMs: Math.max(0, lastMomentIn(path) - createClock().now()),
    look,
    pieces: () => piecesOf(path),
    close: async () => {},
  };
};

/** Opening it cuts what was not settled. */
const archiveOf =
  (dir: string) =>
  (settled: ArchiveEnd): Archive =>
    openArchive({ dir: join(dir, FILES.warc), settled, warcinfo: unused, stamp: unused });

const unused = (): never => {
  throw new Error('a move appends no record');
};

const openShared = async ({ dir, from, say }: SourceOptions): Promise<Source> => {
  const rows = { member: from.member, rowsPath: join(dir, FILES.rows) };
  const place = sharedPlace(from, say);
  const crawl = await openSharedCrawl(place);
  try {
    await checkNotMoved(crawl, place);
    await freeOwn({ dir, from, say });
    const look = (): Promise<Census> => censusIn(crawl, rows.rowsPath);
    const census = await look();
    if (census.leased > 0) {
      throw new StoreFault(
        `${census.leased} links of the crawl "${from.crawl}" are leased by other members`,
        'stop them; the leases of those that died end by themselves within minutes',
      );
    }
    return {
      census,
      aheadMs: census.now - createClock().now(),
      look,
      pieces: () => crawl.pieces(rows),
      close: () => crawl.close(),
    };
  } catch (error) {
    await crawl.close();
    throw error;
  }
};

/** Opening frees what this member had leased when it died, and takes back what was not settled. */
const freeOwn = async ({ dir, from, say }: SourceOptions): Promise<void> => {
  const store = await openSharedStore({
    ...from,
    say,
    clock: null,
    rowsPath: join(dir, FILES.rows),
    archive: archiveOf(dir),
    dead: (records) =>
      addDead(
        dir,
        records.map((one) => ({ ...one, why: 'its lease ran out before it was settled' })),
      ),
  });
  await store.close();
};

/** The state of a crawl in a shared store. */
export const censusIn = async (crawl: SharedCrawl, rowsPath: string): Promise<Census> => {
  const reader = crawl.reader(rowsPath);
  try {
    return await reader.census();
  } finally {
    await reader.close();
  }
};
