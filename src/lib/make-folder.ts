/** Makes a folder, and those above it that are missing, for the user alone. */

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** What was fetched may be private to whoever fetched it. A umask can take more away, and gives nothing back. */
const MODE = 0o700;

/**
 * Does nothing when it is there. Throws what the system says when it cannot be made. Gives the folders that it made,
 * the lowest first.
 */
export const makeFolder = (path: string): string[] => {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  // Step by step: where nothing can be made, as in /proc, Node's own recursive mkdir never comes back.
  const above = dirname(resolve(path));
  const made = above === resolve(path) ? [] : makeFolder(above);
  try {
    mkdirSync(path, { mode: MODE });
    return [path, ...made];
  } catch (error) {
    // Another process may have been quicker.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
    return made;
  }
};
