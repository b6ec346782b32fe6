// Two crawls at the same time in one process, each with a folder and limits of its own.
// Run it: node two-crawls.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { crawl } from 'gossamer';

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort()); // Ctrl-C stops both in order; run it again to go on

const settings = { email: 'you@example.org', fetchers: 1, parsers: 1, signal: stopping.signal };
const runs = await Promise.all([
  crawl({ ...settings, dir: './broad', seeds: ['https://example.org/'], maxDepth: 1 }),
  crawl({ ...settings, dir: './deep', seeds: ['https://example.org/'], scope: 'site', maxPages: 500 }),
]);

for (const run of runs) run.on('log', (level, message) => console.error(run.dir, level, message));
for (const { dir, ended } of runs) {
  const { reason, census } = await ended;
  console.log(`${dir} ${reason}: ${census?.pages} pages`);
}
