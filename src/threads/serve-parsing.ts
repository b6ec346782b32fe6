/** What a parse thread does: takes bodies, gives back findings and finished archive records. */

import { parentPort, workerData } from 'node:worker_threads';
import type { HookTrouble } from '../model/hooks.ts';
import { createClock } from '../lib/clock.ts';
import { cellOf, openMeter } from '../observe/metrics/cells.ts';
import { openHeart } from '../observe/heart.ts';
import { openHooks } from '../hooks/hooks.ts';
import type { ThreadStart, ToParseThread } from './messages.ts';
import { createPageWork, workOrLost, type PageWork } from './page-work.ts';
import { isRobotsJob, type ParseReply, type PoolJob } from './parse-pool.ts';
import { readRobotsJob } from './robots-reader.ts';
import { openVitals } from './vitals.ts';

/** Between two pages; a hook fails once for each, unless it left something behind. */
const TROUBLES_MAX = 100;

/** The work may be wrapped, so that a test can plant a page that kills. */
export const serveParsing = async (wrap: (work: PageWork) => PageWork = (work) => work): Promise<void> => {
  const start = workerData as ThreadStart;
  const heart = openHeart(start.heart);
  const path = start.settings.hooks;
  const troubles: HookTrouble[] = [];
  const onTrouble = (trouble: HookTrouble): void => void (troubles.length < TROUBLES_MAX && troubles.push(trouble));
  const hooks = path === '' ? null : await openHooks({ path, heart, onTrouble });
  const { now } = createClock();
  const workUnder = (more: Partial<ThreadStart>): PageWork =>
    wrap(createPageWork({ ...start, ...more, extract: hooks?.extract, now }));
  let work = workUnder({});
  let { productToken } = start;
  // At rest only when the event loop turns again: what a hook left behind may keep it from that.
  const rest = hooks ? () => setImmediate(heart.rest) : heart.rest;
  openVitals(start.cells);
  const meter = openMeter(start.cells);
  const parsedTotal = cellOf('parsed_total');
  parentPort!.on('message', (message: ToParseThread) => {
    if (message.kind === 'settings') {
      work = workUnder(message.now);
      ({ productToken } = message.now);
      return;
    }
    const { port } = message;
    port.on('message', (job: PoolJob) => {
      heart.busy(job.lease);
      if (isRobotsJob(job)) {
        const done = readRobotsJob(job, productToken);
        rest();
        return port.postMessage({ lease: job.lease, done } satisfies ParseReply);
      }
      const done = workOrLost(work, job);
      rest();
      if (done.kind === 'parsed' && done.findings) meter.add(parsedTotal);
      // The fetch thread tells of them: it knows when the crawl ends, and can sum them up.
      const parsed = done.kind === 'parsed' && troubles.length > 0 ? { ...done, troubles: troubles.splice(0) } : done;
      port.postMessage(
        { lease: job.lease, done: parsed } satisfies ParseReply,
        parsed.kind === 'parsed' && parsed.records ? [parsed.records.bytes.buffer] : [],
      );
    });
  });
};
