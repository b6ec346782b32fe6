/** A crawl that begins no more visits says which one it waits for. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { serveHeldSites, type HeldSites } from '../support/held-site.ts';
import { startInView } from '../support/in-terminal.ts';
import { screenOf } from '../support/screen.ts';
import { assertCode, onStage, plainPlan, type Flags, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

/** One site of three pages, the last of which is held back. */
const onHeldSite = async (story: (stage: Stage, site: HeldSites, flags: Flags) => Promise<void>): Promise<void> => {
  const site = await serveHeldSites(1, 3);
  try {
    await onStage(plainPlan(1, 1), async (stage) => {
      writeFileSync(stage.seedFile, site.seeds.map((seed) => `${seed}\n`).join(''));
      await story(stage, site, { 'connect-to': site.connectTo, timeout: '10m' });
    });
  } finally {
    await site.close();
  }
};

const SIZE = { columns: 80, rows: 24 };
const WAITING = /ending +waiting for http:\/\/held-0\.example\/held \(\d+m?s\)/;

test('the view names the visit that --max-pages waits for, and the crawl ends with that page', () =>
  onHeldSite(async (stage, site, flags) => {
    const run = startInView(stage.crawlWords({ ...flags, 'max-pages': 3 }), SIZE, { cwd: stage.home });
    await until('it says what it waits for', () => {
      assert.ok(!run.isOver(), run.said());
      return WAITING.test(screenOf(run.said(), SIZE).lines.join('\n'));
    });
    assert.equal(site.holding(), 1);
    site.release();
    assertCode(await run.ended, 0);
    assert.equal((await stage.status()).pages, 3);
  }));

test('the view names the visit that a stop waits for', () =>
  onHeldSite(async (stage, site, flags) => {
    const run = startInView(stage.crawlWords(flags), SIZE, { cwd: stage.home });
    await until('the page is held', () => site.holding() === 1);
    process.kill((await stage.status()).process!, 'SIGTERM'); // the terminal stays
    await until('it says what it waits for', () => {
      const shown = screenOf(run.said(), SIZE).lines.join('\n');
      return run.isOver() || (/gossamer stopping/.test(shown) && WAITING.test(shown));
    });
    assert.ok(!run.isOver(), run.said());
    site.release();
    await run.ended;
  }));

test('a line of progress names the last visit, too', () =>
  onHeldSite(async (stage, site, flags) => {
    const run = stage.startCrawl({ ...flags, 'max-pages': 3 });
    await until('it says what it waits for', () => {
      assert.ok(!run.isOver(), run.said());
      return /; waiting for http:\/\/held-0\.example\/held \(\d+m?s\)\n/.test(run.said());
    });
    site.release();
    assertCode(await run.ended, 0);
  }));
