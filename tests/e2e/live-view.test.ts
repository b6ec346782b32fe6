/** The live view of real crawls, on terminals of several sizes; and whether what it says limits the speed is true. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Settings } from '../../src/model/settings.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { serveHeldSites } from '../support/held-site.ts';
import { startInView } from '../support/in-terminal.ts';
import { runHere } from '../support/run-here.ts';
import { screenOf, type Screen } from '../support/screen.ts';
import { assertCode, onStage, plainPlan, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

for (const size of [
  { columns: 50, rows: 10 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 30 },
  { columns: 210, rows: 40 },
])
  test(`on ${size.columns} x ${size.rows} nothing wraps, and pages, speed, links and the limit are there`, () =>
    onStage(tinyPlan, async (stage) => {
      const run = startInView(stage.crawlWords({ 'max-pages': 60 }), size, { cwd: stage.home });
      let screen: Screen = screenOf('', size);
      await until('the view says what limits it', () => {
        screen = screenOf(run.said(), size);
        return run.isOver() || /limited by +(politeness|cpu|slots|network|store|start)/i.test(screen.lines.join('\n'));
      });
      const shown = screen.lines.join('\n');
      assert.match(shown, /pages +\d+ +[\d.]+\/s now/);
      assert.match(shown, /\d+ waiting/);
      assert.match(shown, /limited by/);
      const ran = await run.ended;
      assertCode(ran, 0);
      // The summary may be wider: only what is drawn again must not wrap.
      const [drawn] = ran.stdout.split('\r\nCrawl ');
      const { widest, wrapped } = screenOf(drawn!, size);
      assert.deepEqual({ wrapped, isWide: widest > size.columns - 1 }, { wrapped: false, isWide: false });
      assert.doesNotMatch(ran.stdout, /\x1b\[\?/, 'no mode of the terminal is changed, so none is left behind');
      assert.match(ran.stdout, /reached --max-pages/);
    }));

/** What a run says of its limit, look by look, until it has said so often enough. */
const kindsOf = async (stage: Stage, settings: Partial<Settings>, enough = 12): Promise<string[]> => {
  const kinds: string[] = [];
  await runHere(stage, {
    settings,
    onLook: (run) => {
      const { limit } = run.snapshot();
      if (limit && limit.kind !== 'start') kinds.push(limit.kind); // threads take their time to start
      if (kinds.length >= enough) run.halt();
    },
  });
  return kinds;
};

/** A machine without CPU left limits any crawl that has work to do, and says so. */
const but = (kinds: readonly string[], ...allowed: readonly string[]): string[] =>
  kinds.filter((kind) => kind !== 'cpu' && !allowed.includes(kind));

test('one site with a long delay: politeness', () =>
  onStage(plainPlan(1, 20), async (stage) => {
    const kinds = await kindsOf(stage, { delayMs: 5_000 });
    assert.ok(kinds.length > 0);
    assert.deepEqual(but(kinds.slice(2), 'politeness'), []);
    assert.ok(kinds.includes('politeness'));
  }));

test('many sites that answer at once, and one slot: slots', () =>
  onStage(plainPlan(300, 3_000), async (stage) => {
    const kinds = await kindsOf(stage, { concurrency: 1, delayMs: 0 });
    assert.ok(kinds.length > 0);
    assert.deepEqual(but(kinds, 'slots'), [], kinds.join(' '));
  }));

test('all slots wait for responses that do not come: the network', async () => {
  const sites = await serveHeldSites();
  try {
    await onStage(plainPlan(1, 1), async (stage) => {
      writeFileSync(stage.seedFile, sites.seeds.map((seed) => `${seed}\n`).join(''));
      const kinds = await kindsOf(stage, { concurrency: 6, connectTo: sites.connectTo, delayMs: 0 }, 40);
      assert.deepEqual(but(kinds.slice(-2), 'network'), [], kinds.join(' '));
    });
  } finally {
    await sites.close();
  }
});

test('a hook that keeps the only parse thread: parsers', () =>
  onStage(plainPlan(100, 1_000), async (stage) => {
    const hooks = join(stage.home, 'hooks.mjs');
    writeFileSync(
      hooks,
      'const never = new Int32Array(new SharedArrayBuffer(4));\n' +
        'export const extract = () => void Atomics.wait(never, 0, 0, 200);\n',
    );
    const kinds = await kindsOf(stage, { hooks, parsers: 1 }, 16);
    assert.deepEqual(but(kinds.slice(-8), 'parsers'), []);
  }));
