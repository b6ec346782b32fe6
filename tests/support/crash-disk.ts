/** A small disk in memory for one crawl, which can be made full and given room again while the crawl runs. */

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Far more than a small crawl needs. */
const ROOMY = '200m';
/** A disk gives room in pages of this size. */
const DISK_PAGE_BYTES = 4_096;
/** The crawl may write between the look and the change, which is refused then: it gets more and more room for that. */
const TRIES = 30;

const mounted = new Set<string>();

const mount = async (...args: readonly string[]): Promise<boolean> =>
  run('mount', [...args]).then(
    () => true,
    () => false,
  );

/** False where no file system can be mounted. */
export const mountDisk = async (dir: string): Promise<boolean> => {
  mkdirSync(dir, { recursive: true });
  if (!(await mount('-t', 'tmpfs', '-o', `size=${ROOMY}`, 'gossamer-crash', dir))) {
    rmdirSync(dir);
    return false;
  }
  mounted.add(dir);
  return true;
};

/** From now on there is room for so many more pages of the disk, and then for nothing. */
export const fillDisk = async (dir: string, sparePages: number): Promise<void> => {
  for (let n = 0; n < TRIES; n++) {
    const { blocks, bfree, bsize } = await statfs(dir);
    const bytes = (blocks - bfree) * bsize + (sparePages + n * n) * DISK_PAGE_BYTES;
    if (await mount('-o', `remount,size=${bytes}`, dir)) return;
  }
  throw new Error(`the disk of "${dir}" cannot be made small`);
};

export const makeRoom = async (dir: string): Promise<void> => {
  if (!(await mount('-o', `remount,size=${ROOMY}`, dir)))
    throw new Error(`the disk of "${dir}" cannot be made large again`);
};

/** From now on nothing can be written to it. */
export const sealDisk = async (dir: string): Promise<void> => {
  if (!(await mount('-o', 'remount,ro', dir))) throw new Error(`the disk of "${dir}" cannot be made read-only`);
};

export const unmountDisk = (dir: string): void => {
  if (mounted.delete(dir)) spawnSync('umount', ['-l', dir], { stdio: 'ignore' });
};

/** For a harness that is ended half-way. */
export const unmountDisks = (): void => {
  for (const dir of mounted) unmountDisk(dir);
};
