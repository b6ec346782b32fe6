/**
 * Waiting links in files of this machine: Redis has references to their lines, and its memory does not grow with them.
 */

import { existsSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFault } from '../../frontier/store.ts';
import type { FrontierPlace } from '../../model/settings.ts';
import type { FrontierLimits } from './limits.ts';
import { frontierFolder, lineFileName, lineFilesIn, openLineFiles, type LineFiles } from './line-files.ts';
import { openLineWriter, type LineWriter } from './line-writer.ts';
import type { Call, Wire } from './wire.ts';

export interface Frontier {
  readonly wire: Wire;
  readonly shards: number;
  readonly folder: string;
  /** What an earlier opening still has on its way is refused by its number. */
  readonly opening: string;
  readonly limits: FrontierLimits;
  readonly files: LineFiles;
  readonly writer: LineWriter;
  /** Files that nothing refers to, and since when that is known. */
  readonly emptySince: Map<number, number>;
}

export interface BindOptions {
  readonly crawl: string;
  readonly member: string;
  readonly shards: number;
  readonly frontier: FrontierPlace;
}

const allShards = (shards: number, call: Omit<Call, 'shard'>): Call[] =>
  Array.from({ length: shards }, (_, shard) => ({ ...call, shard }));

/**
 * Fixes where the lines of a new crawl lie. Throws a StoreFault when that is another place, or files of another member.
 */
export const bindFrontier = async (wire: Wire, { crawl, member, shards, frontier }: BindOptions): Promise<void> => {
  const bind = async (fix: boolean): Promise<[place: string, owner: string]> =>
    (await wire.all([{ name: 'bind', shard: 0, args: [frontier, fix ? 1 : 0] }]))[0] as [string, string];
  if (frontier === 'files' && (await bind(false))[0] === '') {
    const elsewhere = await wire.all(allShards(shards, { name: 'isElsewhere', args: [] }));
    if (elsewhere.includes(1)) throw inRedis(crawl);
  }
  const [place, owner] = await bind(true);
  if (place === 'files' && owner !== member) {
    throw new StoreFault(
      `the waiting links of the crawl "${crawl}" lie in files of another directory (member ${owner})`,
      'only that one can work on it: resume it there',
    );
  }
  if (place === 'files' && frontier !== 'files') {
    throw new StoreFault(
      `the waiting links of the crawl "${crawl}" lie in files, not in Redis`,
      'give --frontier files: it is fixed when a crawl begins',
    );
  }
  if (place !== frontier) throw inRedis(crawl);
};

const inRedis = (crawl: string): StoreFault =>
  new StoreFault(
    `the waiting links of the crawl "${crawl}" lie in Redis, not in files`,
    'leave --frontier away: it is fixed when a crawl begins',
  );

export interface OpenOptions {
  readonly wire: Wire;
  readonly shards: number;
  readonly rowsPath: string;
  readonly limits: FrontierLimits;
}

/** Begins a new file. Throws a StoreFault when one is missing. */
export const openFrontier = async ({ wire, shards, rowsPath, limits }: OpenOptions): Promise<Frontier> => {
  const folder = frontierFolder(rowsPath);
  const there = existsSync(folder) ? lineFilesIn(folder) : [];
  const before = await readFiles(wire, shards, '');
  const first = Math.max(0, ...there, ...before.openings, ...before.lines.keys()) + 1;
  // From here on nothing new can refer to the files that are there.
  const { lines } = await readFiles(wire, shards, String(first));
  const missing = [...lines.keys()].find((file) => !there.includes(file));
  if (missing !== undefined) {
    throw new StoreFault(
      `"${join(folder, lineFileName(missing))}" is missing, and ${lines.get(missing)} links wait in it`,
      'restore that directory to the state that it had together with Redis',
    );
  }
  return {
    wire,
    shards,
    folder,
    opening: String(first),
    limits,
    files: openLineFiles(folder),
    writer: openLineWriter(folder, first, limits),
    emptySince: new Map(),
  };
};

interface FilesRead {
  /** How many lines of each file are referred to. */
  readonly lines: ReadonlyMap<number, number>;
  /** The same for each shard. */
  readonly byShard: readonly ReadonlyMap<number, number>[];
  readonly openings: readonly number[];
}

const readFiles = async (wire: Wire, shards: number, opening: string): Promise<FilesRead> => {
  const answers = (await wire.all(allShards(shards, { name: 'filesOf', args: [opening] }))) as string[][];
  const lines = new Map<number, number>();
  const openings: number[] = [];
  const byShard = answers.map((flat) => {
    const ofShard = new Map<number, number>();
    for (let i = 0; i < flat.length; i += 2) {
      const [field, value] = [flat[i]!, flat[i + 1]!];
      if (field === 'opening') {
        openings.push(Number(value));
        continue;
      }
      const file = parseInt(field, 36);
      ofShard.set(file, Number(value));
      lines.set(file, (lines.get(file) ?? 0) + Number(value));
    }
    return ofShard;
  });
  return { lines, byShard, openings };
};

/** Some of a file's bytes, about, for each line. */
const LINE_BYTES = 100;
/** A file with less left than this part of it is emptied. */
const SPARSE = 0.1;

export interface Sparse {
  readonly files: ReadonlySet<number>;
  /** Shards with lines in them. */
  readonly shards: readonly number[];
}

/** Deletes files that nothing has referred to for a while, and names those with little left. */
export const reclaim = async ({
  wire,
  shards,
  folder,
  files,
  writer,
  emptySince,
  limits,
}: Frontier): Promise<Sparse> => {
  const current = writer.current();
  // Before Redis is asked: what is referred to by then is not awaited any more.
  const old = existsSync(folder) ? lineFilesIn(folder).filter((file) => file < current && !writer.isAwaited(file)) : [];
  if (old.length === 0) return { files: new Set(), shards: [] };
  const { lines, byShard } = await readFiles(wire, shards, '');
  const sparse = new Set<number>();
  for (const file of old) {
    const path = join(folder, lineFileName(file));
    const left = lines.get(file) ?? 0;
    if (left > 0)
      emptySince.delete(file); // or Redis was set back
    else if (!emptySince.has(file)) emptySince.set(file, performance.now());
    if (left === 0 && performance.now() - emptySince.get(file)! >= limits.graceMs) {
      files.drop(file);
      unlinkSync(path);
      emptySince.delete(file);
    } else if (left > 0 && left * LINE_BYTES < SPARSE * statSync(path).size) sparse.add(file);
  }
  return {
    files: sparse,
    shards: byShard.flatMap((ofShard, shard) => ([...sparse].some((file) => ofShard.has(file)) ? [shard] : [])),
  };
};
