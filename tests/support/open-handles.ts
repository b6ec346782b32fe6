/** Preloaded into every test file: one that leaves a handle open fails, and says which kind. */

import { after } from 'node:test';

/** Sockets and threads that are closing need a moment, on a slow machine a long one. */
const GRACE_MS = 60_000;

after(() => {
  setTimeout(() => {
    console.error(`open handles after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, GRACE_MS).unref();
});
