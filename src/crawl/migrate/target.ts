/** Where a crawl is moved to: filled from pieces, and worth nothing until it is whole. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFault } from '../../frontier/store.ts';
import { createClock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { kindOf, withoutPassword } from '../../store/place.ts';
import { removalOf } from '../../store/removal.ts';
import { openSharedCrawl, type Piece, type SharedCrawl } from '../../store/shared.ts';
import { COMPANIONS, createSqliteMove } from '../../store/sqlite/move.ts';
import { openSqliteReader } from '../../store/sqlite/reader.ts';
import type { StoreStart } from '../../threads/messages.ts';
import { FILES, type Identity } from '../folder.ts';
import { IDENTITY_NOTE, MOVED_NOTE } from '../shared-notes.ts';
import { sharedPlace } from '../store-place.ts';
import { freshOf } from './put-away.ts';
import { censusIn } from './source.ts';

/** In the target: what its source had counted of changes when it was copied. */
export const COPIED_NOTE = 'copied';

export interface Target {
  /**
   * True when the whole copy is there already: the run that made it was killed before the directory knew of it. Throws
   * a UsageError when another crawl is there.
   */
  begin(copied: string): Promise<boolean>;
  /** How far its clock is ahead of this machine's, rather too much than too little; known once the move has begun. */
  aheadMs(): Promise<number>;
  take(pieces: readonly Piece[]): Promise<void>;
  end(): Promise<void>;
  /** Once it is whole. */
  census(): Promise<Census>;
  close(): Promise<void>;
}

export interface TargetOptions {
  readonly dir: string;
  readonly to: StoreStart;
  readonly identity: Identity;
  readonly say: (text: string) => void;
}

export const openTarget = (options: TargetOptions): Promise<Target> =>
  kindOf(options.to.url) === 'sqlite' ? openEmbedded(options) : openShared(options);

const openEmbedded = async ({ dir, to }: TargetOptions): Promise<Target> => {
  const path = freshOf(join(dir, FILES.store));
  const move = createSqliteMove({ path, shards: to.shards, now: createClock().now() });
  return {
    begin: async () => {
      move.beginMove(); // a file that a killed run left may be half a crawl: it is written anew
      return false;
    },
    aheadMs: async () => 0,
    take: async (pieces) => move.take(pieces),
    end: async () => move.endMove(),
    census: async () => {
      const reader = openSqliteReader(path);
      try {
        return reader.census();
      } finally {
        reader.close();
      }
    },
    close: async () => move.close(),
  };
};

const openShared = async ({ dir, to, identity, say }: TargetOptions): Promise<Target> => {
  const rows = { member: to.member, rowsPath: freshOf(join(dir, FILES.rows)) };
  const crawl = await openSharedCrawl(sharedPlace(to, say));
  return {
    begin: async (copied) => {
      try {
        await crawl.beginMove();
      } catch (error) {
        await judge(crawl, { to, identity, copied, error });
        return true;
      }
      for (const ending of ['', ...COMPANIONS]) rmSync(rows.rowsPath + ending, { force: true });
      return false;
    },
    aheadMs: async () => {
      const before = createClock().now();
      return (await censusIn(crawl, rows.rowsPath)).now - before;
    },
    take: (pieces) => crawl.take(pieces, rows),
    end: () => crawl.endMove(rows),
    census: () => censusIn(crawl, existsSync(rows.rowsPath) ? rows.rowsPath : join(dir, FILES.rows)),
    close: () => crawl.close(),
  };
};

interface Judged {
  readonly to: StoreStart;
  readonly identity: Identity;
  readonly copied: string;
  readonly error: unknown;
}

/** Something is there: whole, ours and not older than the crawl is now, or the move cannot begin. */
const judge = async (crawl: SharedCrawl, { to, identity, copied, error }: Judged): Promise<void> => {
  if (!(error instanceof StoreFault)) throw error;
  const note = await crawl.note(IDENTITY_NOTE);
  if (note === null) throw error;
  const where = `${withoutPassword(to.url)} has a crawl "${to.crawl}" already`;
  if ((JSON.parse(note) as Identity).id !== identity.id)
    throw new UsageError(`${where}, another one: choose another --name`);
  if ((await crawl.note(MOVED_NOTE)) !== null)
    throw new UsageError(
      `${where}: this one, as it was before it was moved away from there; choose another --name, or remove the old one there: ${removalOf(to.url, to.crawl)}`,
    );
  if ((await crawl.note(COPIED_NOTE)) !== copied)
    throw new UsageError(`${where}: a copy of this one from before it went on here; choose another --name`);
};
