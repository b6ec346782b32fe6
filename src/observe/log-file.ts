/** The file of a log: rolled by size, and safe with others that rename, truncate or delete it. */

import { closeSync, existsSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';

/** One file of this size and this many older ones: a log never fills a disk. */
export const FILE_BYTES_MAX = 10 * 1024 ** 2;
export const OLDER_FILES = 3;
/**
 * How often it is looked whether the file is still the one at its path, and how long it is; a write costs no more than
 * itself in between.
 */
const LOOK_MS = 1_000;

export interface LogFile {
  /**
   * Appends a line. False when it could not be written: a full disk must not end the crawl here, the store will say so.
   */
  write(line: string): boolean;
  /** Somebody moved the file away: the next line goes to a new one. */
  reopen(): void;
  close(): void;
}

/** Nothing is opened before the first line. */
export const openLogFile = (path: string, fileBytesMax = FILE_BYTES_MAX): LogFile => {
  let fd: number | null = null;
  let bytes = 0;
  let lookedAt = -Infinity;
  /** The last write ended within its line: the disk was full. */
  let isTorn = false;

  const close = (): void => {
    const mine = fd;
    fd = null;
    if (mine !== null) closeSync(mine);
  };

  const open = (): number => {
    makeFolder(dirname(path));
    // To append: whoever truncates the file leaves no hole, whoever writes to it too breaks no line.
    fd = openSync(path, 'a');
    bytes = fstatSync(fd).size;
    lookedAt = performance.now();
    return fd;
  };

  /** The descriptor of the file that is at the path now, and its real length. */
  const look = (): number => {
    if (fd === null) return open();
    const mine = fstatSync(fd);
    const there = statSync(path, { throwIfNoEntry: false });
    lookedAt = performance.now();
    bytes = mine.size;
    if (there?.ino === mine.ino && there.dev === mine.dev) return fd;
    close();
    return open();
  };

  const current = (): number => {
    if (fd !== null && performance.now() - lookedAt < LOOK_MS && bytes < fileBytesMax) return fd;
    const found = look();
    if (bytes < fileBytesMax) return found;
    close();
    roll(path);
    return open();
  };

  const quietly = (act: () => boolean): boolean => {
    try {
      return act();
    } catch {
      return false;
    }
  };

  return {
    write: (line) =>
      quietly(() => {
        const text = Buffer.from(isTorn ? `\n${line}\n` : `${line}\n`);
        const written = writeSync(current(), text);
        bytes += written;
        isTorn = written < text.length;
        return !isTorn;
      }),
    reopen: () => void quietly(() => (close(), true)),
    close: () => void quietly(() => (close(), true)),
  };
};

const roll = (path: string): void => {
  for (let i = OLDER_FILES - 1; i >= 1; i--)
    if (existsSync(`${path}.${i}`)) renameSync(`${path}.${i}`, `${path}.${i + 1}`);
  renameSync(path, `${path}.1`);
};
