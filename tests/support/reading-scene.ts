/** A store that is open and being written, the crawl as others read it meanwhile, and what `explain` says about it. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain, type Explanation } from '../../src/results/explain.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import { writeIdentity } from '../../src/folder/folder.ts';
import { completeSettings } from '../../src/model/read-settings.ts';
import type { RobotsRecord } from '../../src/model/robots.ts';
import type { Settings } from '../../src/model/settings.ts';
import { parseRobots } from '../../src/politeness/robots.ts';
import { openSqliteCrawl } from '../../src/store/sqlite/crawl.ts';
import { openSqlite, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { openMemoryArchive } from './memory-archive.ts';
import { sqlitePlace } from './sqlite-place.ts';

export interface ReadingScene {
  readonly dir: string;
  readonly clock: ManualClock;
  readonly store: SqliteStore;
  readonly crawl: StoredCrawl;
  file(name: string, text: string): void;
  /** As if the crawl had these settings, and by default were running. */
  explain(url: string, settings?: Partial<Settings>, running?: boolean): Promise<Explanation>;
}

export const onReadingScene = async (story: (scene: ReadingScene) => Promise<void>): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-read-'));
  const path = join(dir, 'crawl.db');
  const clock = createManualClock();
  writeIdentity(dir, completeSettings({ email: 'test@example.org' }, 2));
  const store = openSqlite({ path, clock: () => clock, archive: () => openMemoryArchive() });
  const crawl = await openSqliteCrawl(sqlitePlace(dir));
  try {
    await story({
      dir,
      clock,
      store,
      crawl,
      file: (name, text) => writeFileSync(join(dir, name), text),
      explain: (url, settings = {}, running = true) =>
        explain({
          dir,
          url,
          crawl,
          now: clock.now(),
          running,
          settings: completeSettings({ email: 'test@example.org', ...settings }, 2),
        }),
    });
  } finally {
    await crawl.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

export const HOUR_MS = 3_600_000;

/** The rules of a robots.txt that was read just now. */
export const robotsRead = (origin: string, text: string, now: number): RobotsRecord => {
  const { verdict, rules, crawlDelayMs } = parseRobots(text, 'gossamer');
  return { origin, verdict, rules, crawlDelayMs, failures: 0, fetchedAt: now, expiresAt: now + 24 * HOUR_MS };
};
