/**
 * A broad crawl with spider-rs: `spider.mjs START_URL PAGES`.
 *
 * It is copied to where spider-rs is installed, so that its imports are found.
 */

import { pageTitle, Website } from '@spider-rs/spider-rs';

const [, , start, pages] = process.argv;

const website = new Website(start)
  .withRespectRobotsTxt(true)
  .withExternalDomains(['*'])
  .withBudget({ '*': Number(pages) })
  .build();

let titles = 0;
await website.crawl((fault, page) => {
  if (!fault && pageTitle(page)) titles++;
});
console.log(`${titles} pages with a title`);
process.exit(0); // its threads would keep the process alive
