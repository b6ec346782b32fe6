/** Preloaded into the binary by NODE_OPTIONS: sets its clock back, or makes one of its threads throw. */

import { writeFileSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

const {
  GOSSAMER_CRASH_CLOCK_BACK_MS: backMs = '0',
  GOSSAMER_CRASH_THREAD: thread = '',
  GOSSAMER_CRASH_AFTER_MS: afterMs = '0',
  GOSSAMER_CRASH_MARK: mark = '',
} = process.env;

const setBack = (ms: number): void => {
  const { now } = Date;
  const earlier = (): number => now() - ms;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [earlier()] : args, made) as object,
    get: (target, name) => (name === 'now' ? earlier : (Reflect.get(target, name) as unknown)),
  });
};

/** The mark can be made once: the thread that is started in place of the dead one lives. */
const throwOnce = (): void => {
  try {
    writeFileSync(mark, '', { flag: 'wx' });
  } catch {
    return;
  }
  throw new Error('planted: this thread dies');
};

if (backMs !== '0') setBack(Number(backMs));
if (!isMainThread && thread !== '' && (workerData as { name?: string } | null)?.name === thread)
  setTimeout(throwOnce, Number(afterMs)).unref();
