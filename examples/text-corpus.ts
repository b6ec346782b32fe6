// Read a finished crawl: its texts become a corpus, one file for each language.
// Run it: node text-corpus.ts (after first-crawl.ts; with gossamer installed, or as examples/README.md says)

import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openCrawl } from 'gossamer';

const crawl = await openCrawl('./crawl');
mkdirSync('corpus', { recursive: true });

let texts = 0;
for await (const page of crawl.pages({ outcome: 'fetched' })) {
  const text = await page.text();
  if (page.noindex || text === '') continue;
  const language = /^[a-z]{2,3}/i.exec(page.language)?.[0].toLowerCase() ?? 'unknown';
  appendFileSync(join('corpus', `${language}.txt`), `${text}\n\n`);
  texts++;
}
console.log(`${texts} texts of ${(await crawl.status()).pages} pages are in ./corpus`);
await crawl.close();
