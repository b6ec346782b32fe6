/** The hooks module of a crawl: found and tried before anything is made. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../model/read-settings.ts';
import { probeHooks } from './probe.ts';

/** The absolute path of a module that can be used; empty when none is wanted. Throws a UsageError otherwise. */
export const checkHooks = async (given: string): Promise<string> => {
  if (given === '') return '';
  const path = pathOf(given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile())
    throw new UsageError(`--hooks "${given}" cannot be read: ${found ? 'it is not a file' : 'it does not exist'}`);
  const probed = await probeHooks(path);
  if (probed.kind === 'bad') throw new UsageError(`--hooks "${given}" ${probed.why}`);
  return path;
};

/** A program gives a file URL, as `import.meta.resolve` does; a person a path. */
const pathOf = (given: string): string => {
  if (!given.startsWith('file:')) return resolve(given);
  try {
    return fileURLToPath(given);
  } catch {
    throw new UsageError(`--hooks "${given}" is not understood: give the path of a module`);
  }
};
