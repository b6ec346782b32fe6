/** The entry of a thread that loads a hooks module once, to see whether it can be loaded. */

import { parentPort, workerData } from 'node:worker_threads';
import { loadHooks } from './load.ts';
import type { HooksProbed } from './probe.ts';

const tell = (probed: HooksProbed): void => parentPort!.postMessage(probed);

void loadHooks(workerData as string).then(
  () => tell({ kind: 'good' }),
  (error: unknown) => tell({ kind: 'bad', why: (error as Error).message }),
);
