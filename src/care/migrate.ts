/**
 * Moves a crawl to another store, or to another number of shards.
 *
 * The source is not changed until the target is whole. Then crawl.json is replaced in one step: from that moment on the
 * crawl is in the target. What was left behind is put away last. Killed before, the crawl is where it was; killed
 * after, it is moved, and the next run or a resume puts away the rest.
 */

import { StoreFault } from '../contract/fault.ts';
import { plural, writeBytes } from '../lib/units.ts';
import { settledTotal, type Census } from '../model/census.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Piece } from '../contract/walk.ts';
import { isShared, withoutPassword } from '../store/address.ts';
import { bytesNeeded, leftBehind } from '../store/files.ts';
import type { StorePlace } from '../store/options.ts';
import { DiskError, diskFreeBytes } from '../folder/ceilings.ts';
import { checkFixed, keepIdentity, readIdentity, type Identity } from '../folder/folder.ts';
import { lockCrawl } from '../folder/lock.ts';
import { copyPieces, type MoveProgress } from './migrate/copy.ts';
import { isSame, isSameCrawl, placesOf, type Places, type Wanted } from './migrate/places.ts';
import { finishFiles } from '../folder/finish-move.ts';
import { openSource, type Source } from './migrate/source.ts';
import { COPIED_NOTE, openTarget, type Target } from './migrate/target.ts';
import { notesOf, tellMoved } from '../folder/notes.ts';
import { knownStore, storePlace } from '../folder/store-place.ts';

export type { MoveProgress } from './migrate/copy.ts';

export interface MigrateOptions extends Wanted {
  readonly dir: string;
  readonly say: (text: string) => void;
  readonly onProgress: (progress: MoveProgress) => void;
  /** Ends the move at the next piece; the crawl stays where it is. */
  readonly stop?: AbortSignal;
}

/** One side of a move. */
export interface Side {
  /** Without a password. */
  readonly store: string;
  readonly name: string;
  readonly shards: number;
  readonly census: Census;
}

export type Migrated =
  | {
      readonly kind: 'moved';
      readonly from: Side;
      readonly to: Side /** Files that may be deleted. */;
      readonly left: readonly string[];
    }
  /** It was moved before, and the rest was put away now. */
  | { readonly kind: 'finished'; readonly store: string; readonly left: readonly string[] }
  | { readonly kind: 'stopped' };

/** Throws a UsageError when it cannot be, and nothing was changed then. */
export const migrateCrawl = async (options: MigrateOptions): Promise<Migrated> => {
  const { dir } = options;
  checkFixed(dir, readIdentity(dir)); // before the lock: a directory that is no crawl is left as it is
  const lock = lockCrawl(dir);
  try {
    const found = readIdentity(dir);
    const identity = found.movedFrom ? await finish(found, options) : found;
    const places = placesOf(dir, identity, options);
    if (!isSame(places)) return await move(identity, places, options);
    if (found.movedFrom) return { kind: 'finished', store: withoutPassword(places.from.url), left: leftBehind(dir) };
    throw new UsageError(
      `crawl "${dir}" is in ${withoutPassword(places.from.url)} with ${plural(places.from.shards, 'shard')} already: there is nothing to do`,
    );
  } finally {
    lock.release();
  }
};

const move = async (identity: Identity, places: Places, options: MigrateOptions): Promise<Migrated> => {
  const { dir, say } = options;
  const { from, to } = places;
  if (isSameCrawl(from, to) && isShared(to.url)) {
    throw new UsageError(
      `the crawl "${from.crawl}" cannot get other shards under the same name in the same store: give it another --name`,
    );
  }
  const source = await openSource({ ...from, say });
  try {
    checkRoom(dir, places, source.census);
    const target = await openTarget({ to: { ...to, say }, identity });
    try {
      const moved = withPlace(identity, places);
      if (!(await fill({ source, target, moved, options }))) return { kind: 'stopped' };
      const census = await target.census();
      checkAgrees(source.census, census);
      keepIdentity(dir, moved); // the one step: from here on the crawl is in the target
      await finish(moved, options);
      return { kind: 'moved', from: sideOf(from, source.census), to: sideOf(to, census), left: leftBehind(dir) };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};

const sideOf = ({ url, crawl, shards }: StorePlace, census: Census): Side => ({
  store: withoutPassword(url),
  name: crawl,
  shards,
  census,
});

/** The identity of the crawl once it is there. */
const withPlace = (identity: Identity, { from, to }: Places): Identity => ({
  ...identity,
  fixed: { ...identity.fixed, shards: to.shards },
  settings: { ...identity.settings, store: withoutPassword(to.url), name: to.crawl, frontier: to.frontier },
  movedFrom: { store: withoutPassword(from.url), name: from.crawl, shards: from.shards },
});

interface Fill {
  readonly source: Source;
  readonly target: Target;
  readonly moved: Identity;
  readonly options: MigrateOptions;
}

/** False when it was stopped before the target was whole. */
const fill = async ({ source, target, moved, options: { dir, stop, onProgress } }: Fill): Promise<boolean> => {
  const copied = String(source.census.changes);
  if (await target.begin(copied)) return true;
  const shiftMs = (await target.aheadMs()) - source.aheadMs;
  const notes = { ...notesOf(moved, dir), [COPIED_NOTE]: copied };
  const isWhole = await copyPieces({
    source,
    shiftMs,
    take: (pieces: readonly Piece[]) => target.take(pieces),
    notes,
    onProgress,
    ...(stop ? { stop } : {}),
  });
  if (!isWhole) return false;
  if ((await source.look()).changes !== source.census.changes)
    throw new StoreFault('somebody worked on the crawl while it was copied', 'stop all its members, then run it again');
  onProgress({ phase: 'finishing', links: 0, linksTotal: 0, pages: 0, pagesTotal: 0 });
  await target.end();
  return true;
};

/** Counters that must be the same on both sides. */
const AGREE = ['waiting', 'leased', 'parked', 'held', 'forgotten', 'pages', 'archivedBytes'] as const;

const checkAgrees = (from: Census, to: Census): void => {
  const wrong = AGREE.find((name) => from[name] !== to[name]);
  if (wrong === undefined && from.sites.known === to.sites.known && settledTotal(from) === settledTotal(to)) return;
  throw new StoreFault(
    `the copy does not agree with the crawl${wrong === undefined ? '' : ` (${wrong}: ${from[wrong]}, copied ${to[wrong]})`}; the crawl is where it was`,
    'check it by "gossamer verify", then run the move again',
  );
};

/** Throws a DiskError when the files of the target would not fit. */
const checkRoom = (dir: string, { from, to }: Places, census: Census): void => {
  const needed = bytesNeeded(dir, { from: from.url, to: to.url }, census);
  const free = diskFreeBytes(dir);
  if (free < needed)
    throw new DiskError(
      `the disk of "${dir}" has ${writeBytes(free)} free, and the move needs about ${writeBytes(needed)}: free some space`,
    );
};

/** Puts away what a move left behind; what cannot be done now is left for the next run. */
const finish = async (identity: Identity, { dir, from, say }: MigrateOptions): Promise<Identity> => {
  const done = finishFiles(dir, identity);
  if (!done.movedFrom) return done;
  const { movedFrom, ...rest } = done;
  const { store, name, shards } = movedFrom;
  const former = { ...done, fixed: { ...done.fixed, shards }, settings: { ...done.settings, name } };
  const place = { ...storePlace(dir, former, passwordFor(store, from)), say };
  try {
    await tellMoved(place, `${done.settings.store} as "${done.settings.name}"`);
  } catch (error) {
    say(
      `the former store could not be told that the crawl was moved (${(error as Error).message}): run this again, or start no member on it`,
    );
    return done;
  }
  return keepIdentity(dir, rest);
};

/** What was given as the source may be the password of the store that it was in, or of none. */
const passwordFor = (store: string, given: string | undefined): string => {
  try {
    return knownStore(store, given);
  } catch {
    return knownStore(store);
  }
};
