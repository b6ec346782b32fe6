/** Preloaded into an example: `gossamer` is the sources of this clone, and the web is the one that the test serves. */

import { registerHooks } from 'node:module';

registerHooks({
  resolve: (name, context, next) =>
    name === 'gossamer'
      ? { url: new URL('./gossamer-nearby.ts', import.meta.url).href, shortCircuit: true }
      : next(name, context),
});
