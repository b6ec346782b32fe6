/** A fetch thread that dies once, in the middle of a visit: as it opens its twelfth connection. */

import { subscribe } from 'node:diagnostics_channel';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import type { ThreadStart } from '../../src/threads/messages.ts';

const CONNECTIONS = 12;

const { dir } = workerData as ThreadStart;
let connections = 0;
subscribe('net.client.socket', () => {
  const mark = join(dir, 'died-once');
  if (++connections !== CONNECTIONS || existsSync(mark)) return;
  writeFileSync(mark, '');
  throw new Error('planted: the fetch thread dies');
});
await import('../../src/threads/fetch-thread.ts');
