// Prices of a shop by CSS selectors: your own code on each page of a crawl.
// Run it: node shop-prices.ts (in a project with gossamer installed; examples/README.md tells how in a clone)

import { appendFileSync } from 'node:fs';
import { crawl } from 'gossamer';

let prices = 0;
const run = await crawl({
  email: 'you@example.org',
  seeds: ['https://example.org/'],
  scope: 'site',
  maxPages: 1_000,
  onPage: async (page) => {
    for (const product of await page.select('.product')) {
      const [name] = product.select('.name');
      const [price] = product.select('.price');
      if (!name || !price) continue;
      appendFileSync('prices.jsonl', `${JSON.stringify({ url: page.url, name: name.text, price: price.text })}\n`);
      prices++;
    }
    // A list that a browser would load as its reader scrolls.
    for (const list of await page.select('[data-more]')) await page.follow(list.attr('data-more') ?? []);
  },
});
const { reason, fault } = await run.ended; // after the last page was with onPage
console.log(fault ? fault.message : `${reason}: ${prices} prices are in prices.jsonl`);
