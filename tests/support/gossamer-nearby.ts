/** The package as an example sees it in a test: its crawls visit the servers of the test, with small times. */

import * as real from '../../src/index.ts';

export * from '../../src/index.ts';

/** Settings as JSON, which take the place of those that an example writes for the real web. */
export const NEARBY = 'GOSSAMER_TEST_NEARBY';

export const crawl = (options: real.CrawlOptions): Promise<real.Crawl> => {
  const { seeds, ...nearby } = JSON.parse(process.env[NEARBY]!) as Partial<real.CrawlOptions>;
  return real.crawl({ ...options, ...nearby, ...(options.seeds && seeds ? { seeds } : {}) });
};
