/** A parse thread with planted faults: some pages throw in it, end it, exhaust its memory or never come to an end. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import type { ThreadStart } from '../../src/threads/messages.ts';

/** `loop-once` is harmless the second time, because each loop costs the whole deadline of a parse. */
export type Poison = 'throw' | 'exit' | 'exhaust' | 'loop-once';

/** In the folder of the crawl: which URL has which poison. */
export const POISON_FILE = 'poison.json';

const act = (poison: Poison | undefined, dir: string): void => {
  switch (poison) {
    case 'throw':
      throw new Error('planted: this page cannot be parsed');
    case 'exit':
      return process.exit(7);
    case 'exhaust': {
      const hoard: object[] = [];
      for (;;) hoard.push(new Array<number>(1_000_000).fill(0.5));
    }
    case 'loop-once': {
      const mark = join(dir, 'looped');
      if (existsSync(mark)) return;
      writeFileSync(mark, '');
      for (;;);
    }
    case undefined:
      return;
  }
};

const start = workerData as ThreadStart | null;
if (start?.name.startsWith('parse-')) {
  const poisons = JSON.parse(readFileSync(join(start.dir, POISON_FILE), 'utf8')) as Readonly<Record<string, Poison>>;
  const { serveParsing } = await import('../../src/threads/serve-parsing.ts');
  serveParsing((work) => (job) => {
    act(poisons[job.page?.url ?? ''], start.dir);
    return work(job);
  });
}
