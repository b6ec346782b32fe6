// The first crawl: a hundred pages from one seed, with a line about how far it is.
// Run it: node first-crawl.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { crawl } from 'gossamer';

let last = 0;
const run = await crawl({
  email: 'you@example.org', // sites see it: an address where their owners reach you
  seeds: ['https://example.org/'],
  dir: './crawl',
  maxPages: 100,
  onSnapshot: ({ phase, pagesThisRun, pagesPerSecond }) => {
    if (pagesThisRun === last) return;
    last = pagesThisRun;
    console.log(`${phase}: ${pagesThisRun} pages, ${pagesPerSecond.toFixed(1)} a second`);
  },
});

const { reason, census } = await run.ended;
console.log(`${reason}: ${census?.pages} pages are in ./crawl, ${census?.waiting} links still wait`);
