/** The log: lines for a person, and the same lines in a file that is rolled by size. */

import { appendFileSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

/** One file of this size and this many older ones: a log never fills a disk. */
const FILE_BYTES_MAX = 10 * 1024 ** 2;
const OLDER_FILES = 3;

export interface Log {
  (level: Level, message: string): void;
}

export interface LogOptions {
  readonly dir: string;
  readonly level: Level;
  /** Shows a line to the person at the terminal. */
  readonly show: (level: Level, message: string) => void;
}

export const createLog = ({ dir, level, show }: LogOptions): Log => {
  const path = join(dir, 'gossamer.log');
  const wanted = LEVELS.indexOf(level);
  let bytes = -1;
  const write = (line: string): void => {
    if (bytes < 0) {
      mkdirSync(dir, { recursive: true });
      bytes = existsSync(path) ? statSync(path).size : 0;
    }
    if (bytes > FILE_BYTES_MAX) {
      roll(path);
      bytes = 0;
    }
    appendFileSync(path, line);
    bytes += Buffer.byteLength(line);
  };
  return (at, message) => {
    if (LEVELS.indexOf(at) > wanted) return;
    show(at, message);
    try {
      write(`${new Date().toISOString()} ${at.padEnd(5)} ${message.replace(/\s*\n\s*/g, ' | ')}\n`);
    } catch {
      // A full disk must not end the crawl here: the store will say so.
    }
  };
};

const roll = (path: string): void => {
  for (let i = OLDER_FILES - 1; i >= 1; i--) if (existsSync(`${path}.${i}`)) renameSync(`${path}.${i}`, `${path}.${i + 1}`);
  renameSync(path, `${path}.1`);
};
