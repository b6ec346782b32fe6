/** The promises hold for pages that only a sitemap leads to, whatever goes wrong. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './run.ts';

const SEEDS = [2_001, 2_002];

test('sitemaps bring pages to a simulated crawl, and all promises hold for them', async () => {
  for (const seed of SEEDS) {
    const plain = await simulate({ seed, fault: 'none', always: false });
    const { broken, pages } = await simulate({ seed, fault: 'none', always: false, sitemaps: true });
    assert.deepEqual(broken, [], `seed ${seed}`);
    assert.ok(pages > plain.pages, `seed ${seed}: ${plain.pages} pages without sitemaps, ${pages} with them`);
  }
});

for (const fault of ['fetch-thread-dies', 'process-dies', 'store-fails-after', 'disk-full'] as const) {
  test(`no sitemap is lost and no page that it lists with ${fault}, again and again`, async () => {
    for (const seed of SEEDS) {
      const { broken, faults } = await simulate({ seed, fault, always: true, sitemaps: true });
      assert.deepEqual(broken, [], `seed ${seed}`);
      assert.ok(faults > 0, `seed ${seed}: the fault never struck`);
    }
  });
}
