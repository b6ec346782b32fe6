/** A parse thread that takes jobs, works on none of them, and soon dies: again and again, when it is started again. */

import { parentPort } from 'node:worker_threads';

/** Long enough that visits wait for it when it dies. */
const LIFE_MS = 100;

parentPort?.on('message', () => {});
setTimeout(() => {
  throw new Error('planted: dies young');
}, LIFE_MS);
