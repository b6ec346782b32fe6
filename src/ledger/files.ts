/** The files of a ledger: how they are named, packed and opened. */

import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';

const RAW = '.notes';
const PACKED = '.notes.zst';
const UNFINISHED = '.new';

/** A file of this size is closed, packed, and the next one begun. */
export const FILE_BYTES_MAX = 8 * 1024 ** 2;
/** The last note, and what a write of many notes adds, may go beyond it. */
const UNPACKED_BYTES_MAX = 4 * FILE_BYTES_MAX;
/**
 * Level 5 costs 2 us a request, outside the event loop; 3 costs half of that and packs 8 % worse, 9 costs 6 us and
 * packs 7 % better.
 */
const ZSTD_LEVEL = 5;

const pack = promisify(zstdCompress);

export interface OpenedFile {
  readonly fd: number;
  readonly path: string;
}

/** A new file, for appending, with a name that nobody has: they sort in the order they are written by one writer. */
export const createNoteFile = (
  dir: string,
  name: { readonly run: string; readonly thread: string; readonly serial: number },
): OpenedFile => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `${name.run}-${name.thread}-${String(name.serial).padStart(6, '0')}${RAW}`);
  return { path, fd: openSync(path, 'ax') };
};

/** A name for a run that sorts by time. */
export const runName = (atMs: number): string => new Date(atMs).toISOString().replace(/\D/g, '');

/** The packed file is whole before the raw one goes; a kill in between leaves both, with the same notes. */
export const packFile = async (path: string): Promise<void> => {
  const target = `${path.slice(0, -RAW.length)}${PACKED}`;
  const packed = await pack(await readFile(path), { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
  try {
    const file = await open(`${target}${UNFINISHED}`, 'w');
    try {
      await file.writeFile(packed);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${target}${UNFINISHED}`, target);
  } catch (error) {
    await rm(`${target}${UNFINISHED}`, { force: true });
    throw error;
  }
  await rm(path, { force: true });
};

/** Cleans up after a killed run: unfinished packed files are removed, raw ones are listed to be packed. */
export const leftoversIn = (dir: string): string[] => {
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir);
  for (const name of names) if (name.endsWith(UNFINISHED)) rmSync(join(dir, name), { force: true });
  return names.filter((name) => name.endsWith(RAW)).map((name) => join(dir, name));
};

/** Packs what an earlier run left, one after the other. What cannot be packed stays as it is, and is read as it is. */
export const packAll = async (paths: readonly string[], stop: AbortSignal): Promise<void> => {
  for (const path of paths) if (!stop.aborted) await packFile(path).catch(() => {});
};

/** Names without their endings, in order: a file that is there both ways is one. */
export const noteFilesIn = (dir: string): string[] =>
  [
    ...new Set(
      readdirSync(dir)
        .filter((name) => name.endsWith(RAW) || name.endsWith(PACKED))
        .map((name) => name.slice(0, name.indexOf('.'))),
    ),
  ].toSorted();

/** The notes of a file, however it is kept. One that is packed while we look is found the other way. */
export const readNoteFile = (dir: string, name: string): Buffer => {
  const stem = join(dir, name);
  const packed = contentOf(`${stem}${PACKED}`);
  if (packed) return zstdDecompressSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  return (
    contentOf(`${stem}${RAW}`) ??
    zstdDecompressSync(readFileSync(`${stem}${PACKED}`), { maxOutputLength: UNPACKED_BYTES_MAX })
  );
};

const contentOf = (path: string): Buffer | null => {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
