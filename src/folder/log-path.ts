/** Where the log of a crawl lies; a place of one's own is checked before anything is made. */

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { FILES } from './folder.ts';

export const logPathOf = (dir: string, { logFile }: Settings): string =>
  logFile || join(dir, FILES.logs, 'gossamer.log');

/** The absolute path of a file that can be written; empty when none was named. Throws a UsageError otherwise. */
export const checkLogFile = (given: string): string => {
  if (given === '') return '';
  const path = resolve(given);
  const refuse = (why: string): never => {
    throw new UsageError(`--log-file "${given}" cannot be written: ${why}`);
  };
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    refuse(`the folder "${folder}" does not exist; make it, or choose another file`);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) refuse('it is a folder; name a file in it');
  try {
    accessSync(found ? path : folder, constants.W_OK);
  } catch (error) {
    refuse(`${(error as Error).message}; choose another file`);
  }
  return path;
};
