/** One thread of a crawl: how it is started, and what the supervisor knows of it. */

import { Worker } from 'node:worker_threads';
import { newHeart, openHeart, type Heart } from '../observe/heart.ts';

export type Role = 'store' | 'fetch' | 'parse';

export interface Thread {
  readonly name: string;
  readonly role: Role;
  readonly worker: Worker;
  readonly heart: Heart;
  /** Resolves when the thread has ended, whatever ended it. */
  readonly exited: Promise<void>;
  ended: boolean;
}

export interface Launch {
  readonly role: Role;
  readonly name: string;
  /** Another program than that of the role, for tests that plant a fault. */
  readonly entry?: URL | undefined;
  /** What the thread is started with; its name and its heart are added. */
  readonly workerData: object;
  /** Told once when the thread ends, with what it died of if that is known. */
  readonly onEnd: (thread: Thread, error: unknown) => void;
}

/** Heaps are sized, so that a thread dies alone when it needs more. Bodies lie outside the heap. */
const HEAP_MIB = 1_024;
const STORE_HEAP_MIB = 2_048;
/**
 * The part of each heap that is collected often. Left alone it takes 128 MiB under load, touched page by page over
 * minutes, for nothing: a page costs the same CPU with 24 MiB, 48 MiB and no ceiling.
 */
const YOUNG_MIB = 48;

const entryOf = (role: Role): URL =>
  new URL(`./${role}-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

export const launch = ({ role, name, entry, workerData, onEnd }: Launch): Thread => {
  const heart = newHeart();
  const worker = new Worker(entry ?? entryOf(role), {
    name,
    workerData: { ...workerData, name, heart },
    resourceLimits: {
      maxOldGenerationSizeMb: role === 'store' ? STORE_HEAP_MIB : HEAP_MIB,
      maxYoungGenerationSizeMb: YOUNG_MIB,
    },
  });
  let error: unknown = null;
  worker.on('error', (cause) => (error = cause));
  const thread: Thread = {
    name,
    role,
    worker,
    heart: openHeart(heart),
    ended: false,
    exited: new Promise((resolve) =>
      worker.on('exit', (code) => {
        thread.ended = true;
        onEnd(thread, error ?? new Error(`thread ${name} ended with code ${code}`));
        resolve();
      }),
    ),
  };
  return thread;
};
