/** Options of the library for a crawl of the small web of a stage. */

import type { CrawlOptions } from '../../src/index.ts';
import { DELAY_MS, type Stage } from './stage.ts';

export const optionsFor = (stage: Stage, more: Partial<CrawlOptions> = {}): CrawlOptions => ({
  email: 'test@example.org',
  dir: stage.dir,
  seeds: stage.world.seeds(),
  connectTo: stage.served.connectTo,
  delayMs: DELAY_MS,
  timeoutMs: 60_000,
  diskReserveBytes: 0,
  fetchers: 1,
  parsers: 1,
  ...more,
});
