/** Tries a hooks module in a thread of its own: what it does while it loads harms nobody. */

import { Worker } from 'node:worker_threads';

export type HooksProbed = { readonly kind: 'good' } | { readonly kind: 'bad'; readonly why: string };

/** Far above what a module with large tables takes, and short enough for a person who waits. */
const LOAD_MS_MAX = 10_000;

const ENTRY = new URL(`./probe-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** The path is absolute. What the module prints while it loads is left for the threads that use it. */
export const probeHooks = async (path: string): Promise<HooksProbed> => {
  const worker = new Worker(ENTRY, { name: 'hook-probe', workerData: path, stdout: true, stderr: true });
  let timer: NodeJS.Timeout | undefined;
  const probed = await new Promise<HooksProbed>((resolve) => {
    const bad = (why: string): void => resolve({ kind: 'bad', why });
    worker.once('message', resolve);
    worker.once('error', (error: unknown) => bad(`cannot be loaded: ${String(error)}`));
    worker.once('exit', () => bad('cannot be loaded: it ended its thread'));
    timer = setTimeout(() => bad(`cannot be loaded: it was not done after ${LOAD_MS_MAX / 1000} s`), LOAD_MS_MAX);
  });
  clearTimeout(timer);
  await worker.terminate();
  return probed;
};
