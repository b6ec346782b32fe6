// Code of your own in the crawl: my-hooks.ts says which links are wanted and what to keep of each page.
// Run it: node hooks.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { crawl } from 'gossamer';

const run = await crawl({
  email: 'you@example.org',
  seeds: ['https://example.org/'],
  maxPages: 100,
  hooks: import.meta.resolve('./my-hooks.ts'),
  onLog: (level, message) => console.error(level, message), // a hook that throws is named here
});

for await (const { url, extracted } of run.pages({ outcome: 'fetched' })) {
  console.log(url, JSON.stringify(extracted));
}
const { snapshot } = await run.ended;
console.log(`links that were not wanted: ${snapshot.refused.hook ?? 0}`);
