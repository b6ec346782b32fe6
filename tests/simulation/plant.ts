/** Preloaded: plants the mutant that GOSSAMER_MUTANT names into the sources as they are loaded. */

import { registerHooks } from 'node:module';
import { editSource, MUTANTS } from './mutants.ts';

const name = process.env.GOSSAMER_MUTANT;
if (name !== undefined) {
  const mutant = MUTANTS.find((one) => one.name === name);
  if (!mutant) throw new Error(`there is no mutant "${name}"`);
  const planted = new Set<string>();
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const edits = mutant.edits.filter(({ file }) => url.endsWith(`/src/${file}`));
      if (edits.length === 0) return loaded;
      let source =
        loaded.source === null || loaded.source === undefined
          ? ''
          : typeof loaded.source === 'string'
            ? loaded.source
            : Buffer.from(loaded.source as Uint8Array).toString();
      for (const edit of edits) {
        const edited = editSource(source, edit);
        if (edited === null)
          throw new Error(`mutant "${name}" does not fit src/${edit.file} any more: correct its row in mutants.ts`);
        source = edited;
        planted.add(edit.find);
      }
      return { ...loaded, source };
    },
  });
  process.on('exit', () => {
    if (planted.size === mutant.edits.length) return;
    console.error(`mutant "${name}" was not planted: one of its files is not loaded`);
    process.exitCode = 3;
  });
}
