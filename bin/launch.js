/**
 * Prepares Node for the program, and starts it. Plain JavaScript: nothing that must be compiled comes before the cache
 * of what was.
 */

import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * Bodies lie outside the heaps, but count in when V8 decides to collect one whole. Left alone it does so four times a
 * second under load, to find nothing in heaps that stay small: 4 % of the CPU of a page, for some 60 MiB less in all.
 */
const OLD_SPACE_MIB = 64;

/** Made step by step: where nothing can be made, as in /proc, Node's own recursive mkdir never comes back. */
const makeFolder = (path) => {
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
};

/** Halves the CPU of a start. Threads hear of it through the environment. */
const rememberCompiled = () => {
  // somebody knows better
  if (process.env.NODE_COMPILE_CACHE !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  try {
    const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    // an empty HOME, or a variable that says nothing of worth: this folder is not for caches
    if (!isAbsolute(caches)) return;
    const ours = join(caches, 'gossamer');
    makeFolder(caches);
    makeFolder(ours);
    accessSync(ours, constants.W_OK);
    enableCompileCache(ours);
    process.env.NODE_COMPILE_CACHE = ours;
  } catch {
    // No home, no room, no right to write there: every start compiles anew.
  }
};

export const launch = async (args) => {
  rememberCompiled();
  setFlagsFromString(`--initial-old-space-size=${OLD_SPACE_MIB}`); // for the threads: this one has its heap already
  // A clone runs its sources; an installed package has only what was built from them.
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const { main } = await import(
    existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
  );
  return main(args);
};
