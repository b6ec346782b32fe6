// Pages while they come: one JSON line for each, with its text, in a file.
// Run it: node pages-to-jsonl.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { crawl } from 'gossamer';

const run = await crawl({ email: 'you@example.org', seeds: ['https://example.org/'], maxPages: 100 });

const file = createWriteStream('pages.jsonl');
for await (const page of run.pages({ outcome: 'fetched' })) {
  const line = JSON.stringify({ url: page.url, title: page.title, language: page.language, text: await page.text() });
  // The loop may be as slow as it likes: the crawl does not wait for it, and nothing piles up in memory.
  if (!file.write(`${line}\n`)) await once(file, 'drain');
}
file.end();
await once(file, 'finish');
console.log(`${run.status().pagesThisRun} pages are in pages.jsonl`);
