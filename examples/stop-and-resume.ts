// Stop a crawl in order, then go on with it: nothing is lost, nothing is fetched twice. A crash would do as well.
// Run it: node stop-and-resume.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { crawl } from 'gossamer';

const settings = { email: 'you@example.org', dir: './crawl' };

const first = await crawl({ ...settings, seeds: ['https://example.org/'] });
let pages = 0;
for await (const page of first.pages()) {
  console.log(page.url);
  if (++pages === 10) break; // leaves the loop, not the crawl
}
const stopped = await first.stop(); // those under way are settled first
console.log(`${stopped.reason} after ${stopped.census?.pages} pages`);

// The same folder: its settings and what still waits are in it. What is given here replaces a setting.
const second = await crawl({ ...settings, maxPages: 100 });
for await (const page of second.pages()) console.log(page.url);
const end = await second.ended;
console.log(`${end.reason} after ${end.census?.pages} pages`);
