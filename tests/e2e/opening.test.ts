/** What a person sees before the first visit: a store that takes its time to open is not silent. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { blockOf } from '../../src/cli/live-view.ts';
import type { Settings } from '../../src/model/settings.ts';
import type { Snapshot } from '../../src/observe/snapshot.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

test('a store that cannot be opened at once is told while it is waited for, and then the crawl goes on', () =>
  onStage(plainPlan(1, 4), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 1 }), 0);
    // A program that writes the database keeps the start waiting, as many links do.
    const db = new DatabaseSync(join(stage.dir, 'crawl.db'));
    db.exec('BEGIN IMMEDIATE');
    const resume = stage.startResume({ 'max-pages': 'none' });
    try {
      await until('it says that it opens the store', () => resume.isOver() || resume.said() !== '');
    } finally {
      db.exec('COMMIT');
      db.close();
    }
    const ran = await resume.ended;
    assertCode(ran, 0);
    assert.match(ran.stdout, /^\d\d:\d\d:\d\d opening the store, for \S+ so far\n/);
    assert.match(ran.stdout, /is finished/);
  }));

test('on a terminal, the store that is opened is shown with the time that it takes', () => {
  const opening = { phase: 'opening', census: null, elapsedMs: 3_400 } as Snapshot;
  const shown = { dir: './crawl', settings: {} as Settings, size: { columns: 80, rows: 24 } };
  assert.deepEqual(blockOf(opening, shown).map(stripVTControlCharacters), [
    'gossamer opening the store 00:00:03 ./crawl',
  ]);
});
