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
import { isShared, keepsRowsByMember, withoutPassword } from '../store/address.ts';
import { bytesNeeded, leftBehind } from '../store/files.ts';
import type { StorePlace } from '../store/options.ts';
import { DiskError, diskFreeBytes } from '../folder/ceilings.ts';
import { checkFixed, keepIdentity, readIdentity, type Identity } from '../folder/folder.ts';
import { membersAt } from '../folder/gathering.ts';
import { lockCrawl, type Lock } from '../folder/lock.ts';
import { copyPieces, type MoveProgress } from './migrate/copy.ts';
import { isSame, isSameCrawl, placesOf, type Places, type Wanted } from './migrate/places.ts';
import { finishFiles } from '../folder/finish-move.ts';
import { openSource, type Source } from './migrate/source.ts';
import { COPIED_NOTE, openTarget, type Target } from './migrate/target.ts';
import { notesOf, tellMoved } from '../folder/notes.ts';
import { knownStore, storePlace } from '../folder/store-place.ts';

export type { MoveProgress } from './migrate/copy.ts';

export interface MigrateOptions extends Wanted {
  /** The directories of all members of the crawl. */
  readonly dirs: readonly string[];
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

/** A directory on its way. */
interface Mover {
  readonly dir: string;
  readonly identity: Identity;
  readonly places: Places;
}

/** Throws a UsageError when it cannot be, and nothing was changed then. */
export const migrateCrawl = async (options: MigrateOptions): Promise<Migrated> => {
  const { dirs } = options;
  // Before the locks: a directory that is no crawl, or of another one, is left as it is.
  for (const dir of dirs) checkFixed(dir, readIdentity(dir));
  membersAt(dirs);
  const locks: Lock[] = [];
  try {
    for (const dir of dirs) locks.push(lockCrawl(dir));
    const movers: Mover[] = [];
    let isFinished = false;
    for (const dir of dirs) {
      const found = readIdentity(dir);
      isFinished ||= found.movedFrom !== undefined;
      const identity = found.movedFrom ? await finish(dir, found, options) : found;
      movers.push({ dir, identity, places: wayOf(dir, identity, options) });
    }
    const rest = movers.filter(({ places }) => !isSame(places));
    if (rest.length > 0) return await move(rest, options);
    const [{ places }] = movers as [Mover];
    if (isFinished) return { kind: 'finished', store: withoutPassword(places.from.url), left: leftIn(dirs) };
    throw new UsageError(
      `crawl "${dirs[0]}" is in ${withoutPassword(places.from.url)} with ${plural(places.from.shards, 'shard')} already: there is nothing to do`,
    );
  } finally {
    for (const lock of locks) lock.release();
  }
};

/** A directory that a killed move has brought over is where the others go, whatever was given as the source. */
const wayOf = (dir: string, identity: Identity, options: MigrateOptions): Places => {
  const { from: _, ...wanted } = options;
  const isThere = options.dirs.length > 1 && isSame(placesOf(dir, identity, wanted));
  return placesOf(dir, identity, isThere ? wanted : options);
};

const leftIn = (dirs: readonly string[]): string[] => dirs.flatMap((dir) => leftBehind(dir));

const move = async (movers: readonly Mover[], options: MigrateOptions): Promise<Migrated> => {
  const { say } = options;
  const [{ places, identity }] = movers as [Mover, ...Mover[]];
  const { from, to } = places;
  checkTarget(places, movers.length);
  const source = await openSource({
    froms: movers.map((one) => ({ ...one.places.from, say })),
    to: nameOf(to),
    beganBy: identity.id,
    isToByMember: keepsRowsByMember(to.url),
  });
  try {
    for (const { dir } of movers) checkRoom(dir, places, source.census);
    const several = movers.length > 1 ? { members: source.members } : {};
    const target = await openTarget({ to: { ...to, say }, identity, ...several });
    try {
      const moved = movers.map((one) => ({ ...one, identity: withPlace(one.identity, { ...one.places, to }) }));
      if (!(await fill({ source, target, moved: moved[0]!, options }))) return { kind: 'stopped' };
      const census = await target.census();
      // The others may have gone on there, when one is brought over later.
      if (!source.wasTold) checkAgrees(source.census, census);
      // Nobody may go on in the old place once one directory has left it.
      if (movers.length > 1) await tellMoved({ ...from, say }, nameOf(to));
      // The one step of each: from here on the crawl is in the target.
      for (const one of moved) keepIdentity(one.dir, one.identity);
      for (const one of moved) await finish(one.dir, one.identity, options);
      const left = leftIn(moved.map(({ dir }) => dir));
      return { kind: 'moved', from: sideOf(from, source.census), to: sideOf(to, census), left };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};

const checkTarget = ({ from, to }: Places, directories: number): void => {
  if (isSameCrawl(from, to) && isShared(to.url))
    throw new UsageError(
      `the crawl "${from.crawl}" cannot get other shards under the same name in the same store: give it another --name`,
    );
  if (directories > 1 && !isShared(to.url))
    throw new UsageError(
      'a crawl of several directories cannot move into the store of one of them: give the address of a server by --to',
    );
};

/** What a store is told of where its crawl is now. */
const nameOf = ({ url, crawl }: Pick<StorePlace, 'url' | 'crawl'>): string => `${withoutPassword(url)} as "${crawl}"`;

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
  /** The first directory, as it will be. */
  readonly moved: Mover;
  readonly options: MigrateOptions;
}

/** False when it was stopped before the target was whole. */
const fill = async ({ source, target, moved, options: { stop, onProgress } }: Fill): Promise<boolean> => {
  const copied = String(source.census.changes);
  if (await target.begin(copied)) return true;
  const shiftMs = (await target.aheadMs()) - source.aheadMs;
  const notes = { ...notesOf(moved.identity, moved.dir), [COPIED_NOTE]: copied };
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
const finish = async (dir: string, identity: Identity, { from, say }: MigrateOptions): Promise<Identity> => {
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
