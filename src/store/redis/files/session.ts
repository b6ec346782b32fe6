/** Files of this machine that waiting links lie in: Redis has references to them, and its memory does not grow. */

import { existsSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../../../lib/units.ts';
import { StoreFault } from '../../../contract/fault.ts';
import { everyShard, pairs, reading, type Step, type Wire } from '../wire.ts';
import type { FilesLimits } from './limits.ts';
import { fileName, filesIn, openLinkFiles, type LinkFiles } from './links.ts';
import { openLinkWriter, type LinkWriter } from './writer.ts';

export interface FilesSession {
  readonly wire: Wire;
  readonly shards: number;
  readonly folder: string;
  /** What an earlier opening still has on its way is refused by its number. */
  readonly opening: string;
  readonly limits: FilesLimits;
  readonly files: LinkFiles;
  readonly writer: LinkWriter;
  /** Files that nothing refers to, and since when that is known. */
  readonly emptySince: Map<number, number>;
}

type FilesParts = Pick<FilesSession, 'wire' | 'shards' | 'folder' | 'limits'>;

const there = (folder: string): number[] => (existsSync(folder) ? filesIn(folder) : []);

/** Begins a new file. Throws a StoreFault when one is missing. */
export const openFiles = async (parts: FilesParts): Promise<FilesSession> => {
  const { wire, shards, folder, limits } = parts;
  const before = await readFiles(wire, shards);
  const first = Math.max(0, ...there(folder), ...before.openings, ...before.links.keys()) + 1;
  // From here on nothing new can refer to the files that are there.
  const { links } = await readFiles(wire, shards, first);
  const missing = [...links.keys()].find((file) => !there(folder).includes(file));
  if (missing !== undefined) {
    throw new StoreFault(
      `"${join(folder, fileName(missing))}" is missing, and ${plural(links.get(missing)!, 'link waits', 'links wait')} in it`,
      'restore that directory to the state that it had together with Redis',
    );
  }
  return {
    ...parts,
    opening: String(first),
    files: openLinkFiles(folder),
    writer: openLinkWriter(folder, first, limits),
    emptySince: new Map(),
  };
};

interface FilesRead {
  /** How many links of each file are referred to. */
  readonly links: ReadonlyMap<number, number>;
  /** How many links of each file each shard refers to. */
  readonly byShard: readonly ReadonlyMap<number, number>[];
  readonly openings: readonly number[];
}

/** What shards refer to; with a number they are told of a new opening. */
export const readFiles = async (wire: Wire, shards: number, opening?: number): Promise<FilesRead> => {
  const steps = everyShard(
    shards,
    (shard): Step =>
      opening === undefined ? reading(shard, [['HGETALL', 'files']]) : { name: 'files-opened', shard, args: [opening] },
  );
  const answers = (await wire.all(steps)) as (string[] | [string[]])[];
  const said = answers.map((flat) => pairs(flat.flat()));
  const byShard = said.map(
    (fields) =>
      new Map(fields.flatMap(([file, n]) => (file === 'opening' ? [] : [[parseInt(file, 36), Number(n)] as const]))),
  );
  const links = new Map<number, number>();
  for (const [file, n] of byShard.flatMap((files) => [...files])) links.set(file, (links.get(file) ?? 0) + n);
  const openings = said.flat().flatMap(([field, n]) => (field === 'opening' ? [Number(n)] : []));
  return { links, byShard, openings };
};

/** Some of a file's bytes, about, for each link. */
const LINK_BYTES = 100;
/** A file with less left than this part of it is emptied. */
const SPARSE = 0.1;

export interface Sparse {
  readonly files: ReadonlySet<number>;
  /** Shards with links in them. */
  readonly shards: readonly number[];
}

/** Deletes files that nothing has referred to for a while, and names those with little left. */
export const reclaim = async (session: FilesSession): Promise<Sparse> => {
  const { wire, shards, folder, files, writer, emptySince, limits } = session;
  const current = writer.current();
  // Before Redis is asked: what is referred to by then is not awaited any more.
  const old = there(folder).filter((file) => file < current && !writer.isAwaited(file));
  if (old.length === 0) return { files: new Set(), shards: [] };
  const { links, byShard } = await readFiles(wire, shards);
  const sparse = new Set<number>();
  for (const file of old) {
    const path = join(folder, fileName(file));
    const left = links.get(file) ?? 0;
    if (left > 0)
      emptySince.delete(file); // or Redis was set back
    else if (!emptySince.has(file)) emptySince.set(file, performance.now());
    if (left === 0 && performance.now() - emptySince.get(file)! >= limits.graceMs) {
      files.forget(file);
      unlinkSync(path);
      emptySince.delete(file);
    } else if (left > 0 && left * LINK_BYTES < SPARSE * statSync(path).size) sparse.add(file);
  }
  return {
    files: sparse,
    shards: byShard.flatMap((ofShard, shard) => ([...sparse].some((file) => ofShard.has(file)) ? [shard] : [])),
  };
};
