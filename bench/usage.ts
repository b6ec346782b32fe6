/** Preloaded into a measured process: writes what it used to the file that GOSSAMER_USAGE names. */

import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.GOSSAMER_USAGE;
if (file && isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakBytes: maxRSS * 1024 }));
  });
}
