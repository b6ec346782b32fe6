/** Preloaded: plants the mutant that GOSSAMER_MUTANT names into the sources as they are loaded, or read as text. */

import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { editSource, MUTANTS } from './mutants.ts';

const name = process.env.GOSSAMER_MUTANT;
if (name !== undefined) {
  const mutant = MUTANTS.find((one) => one.name === name);
  if (!mutant) throw new Error(`there is no mutant "${name}"`);
  const planted = new Set<string>();

  /** The source with the mutant in it, if it is one of its files. */
  const plantIn = (path: string, source: string): string => {
    let changed = source;
    for (const edit of mutant.edits.filter(({ file }) => path.endsWith(`/src/${file}`))) {
      const edited = editSource(changed, edit);
      if (edited === null)
        throw new Error(`mutant "${name}" does not fit src/${edit.file} any more: correct its row in mutants.ts`);
      changed = edited;
      planted.add(edit.find);
    }
    return changed;
  };

  // At once: a store that cannot be opened may be waited for.
  for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
    const url = new URL(`../../src/${file}`, import.meta.url);
    plantIn(url.pathname, fs.readFileSync(url, 'utf8'));
  }
  planted.clear();

  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!mutant.edits.some(({ file }) => url.endsWith(`/src/${file}`))) return loaded;
      const { source } = loaded;
      const text = typeof source === 'string' ? source : Buffer.from((source ?? '') as Uint8Array).toString();
      return { ...loaded, source: plantIn(url, text) };
    },
  });
  // SQL and Lua are no modules: stores read them as text.
  const read = fs.readFileSync as (path: fs.PathOrFileDescriptor, options?: unknown) => string | Buffer;
  const readPlanted: typeof read = (path, options) => {
    const text = read(path, options);
    return typeof text === 'string' ? plantIn(String(path), text) : text;
  };
  fs.readFileSync = readPlanted as typeof fs.readFileSync;
  syncBuiltinESMExports();

  process.on('exit', () => {
    if (planted.size === mutant.edits.length) return;
    console.error(`mutant "${name}" was not planted: one of its files is not loaded`);
    process.exitCode = 3;
  });
}
