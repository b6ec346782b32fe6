/** Each of several processes of a crawl tells its own pages and those of the crawl. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBinary, type Ran } from '../support/binary.ts';
import { SHARED_STORES } from '../support/shared-servers.ts';
import { assertCode, flagWords, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

interface Told {
  readonly pages: number;
  readonly pagesThisRun: number;
}

const lastOf = ({ stdout }: Ran): Told => JSON.parse(stdout.trim().split('\n').at(-1)!) as Told;

test('a crawl in one process has no pages but its own', () =>
  onStage(plainPlan(3, 30), async (stage) => {
    const ran = await stage.crawl({ json: true });
    assertCode(ran, 0);
    const { pages, pagesThisRun } = lastOf(ran);
    assert.ok(pages > 0);
    assert.equal(pagesThisRun, pages);
    const resumed = await stage.resume({ json: true });
    assert.deepEqual([lastOf(resumed).pages, lastOf(resumed).pagesThisRun], [pages, 0], 'of this run');
  }));

for (const [store, open] of Object.entries(SHARED_STORES))
  test(`${store}: the pages of two processes add up to those of the crawl`, async () => {
    const server = await open();
    try {
      await onStage(plainPlan(30, 600, 30), async (stage) => {
        const flags = { store: await server.place(), name: 'own', json: true as const };
        const first = stage.startCrawl(flags);
        await until('the crawl is there', () => stage.served.record.requests.length > 0);
        const dir = join(stage.home, 'second');
        const second = startBinary(['join', dir, ...flagWords(flags)], { cwd: stage.home });
        await until('it has joined', () => second.isOver() || existsSync(join(dir, 'crawl.json')));
        const [one, two] = await Promise.all([first.ended, second.ended]);
        for (const ran of [one, two]) assertCode(ran, 0);
        const told = [lastOf(one), lastOf(two)];
        assert.equal(told[0]!.pages, told[1]!.pages);
        assert.equal(told[0]!.pagesThisRun + told[1]!.pagesThisRun, told[0]!.pages);
        assert.ok(told.every(({ pagesThisRun }) => pagesThisRun > 0));
      });
    } finally {
      await server.remove();
    }
  });
