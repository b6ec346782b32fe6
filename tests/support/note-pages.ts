/** A program with an `onPage` of its own, for tests that kill it: notes each page in a file. */

import { appendFileSync } from 'node:fs';
import { crawl, type CrawlOptions } from '../../src/index.ts';

const run = await crawl({
  ...(JSON.parse(process.argv[2]!) as CrawlOptions),
  onPage: async (page) => {
    await page.html();
    appendFileSync(process.argv[3]!, `${page.url}\n`);
  },
});
console.log((await run.ended).reason);
