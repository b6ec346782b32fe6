/** What a parse thread does: takes bodies, gives back findings and finished archive records. */

import { parentPort, workerData } from 'node:worker_threads';
import { openHeart } from './heart.ts';
import type { ThreadStart, ToParseThread } from './messages.ts';
import { createPageWork, workOrLost, type PageWork } from './page-work.ts';
import type { ParseReply, ParseRequest } from './parse-pool.ts';

/** The work may be wrapped, so that a test can plant a page that kills. */
export const serveParsing = (wrap: (work: PageWork) => PageWork = (work) => work): void => {
  const start = workerData as ThreadStart;
  const heart = openHeart(start.heart);
  const work = wrap(createPageWork(start));
  parentPort!.on('message', ({ port }: ToParseThread) => {
    port.on('message', (job: ParseRequest) => {
      heart.busy(job.lease);
      const parsed = workOrLost(work, job);
      heart.rest();
      port.postMessage({ lease: job.lease, parsed } satisfies ParseReply, parsed.kind === 'parsed' && parsed.records ? [parsed.records.bytes.buffer] : []);
    });
  });
};
