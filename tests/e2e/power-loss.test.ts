/**
 * A crash of the whole machine: writes that were not synced are gone, in the database or in the archive.
 * The check names what it cost, a repair resolves it, and a resume completes the crawl.
 */

import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import type { Running } from '../support/binary.ts';
import { assertCode, openStage, plainPlan, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
/** The crawl when it was killed first, and when it was killed after it had gone on. */
const early = (): string => join(stage.home, 'early');
const late = (): string => join(stage.home, 'late');

const killAt = async (run: Running, requests: number): Promise<void> => {
  await until(`${requests} requests were seen`, () => stage.served.record.requests.length >= requests || run.isOver());
  run.send('SIGKILL');
  assert.equal((await run.ended).signal, 'SIGKILL');
};

before(async () => {
  stage = await openStage(plainPlan(8, 90, 20));
  await killAt(stage.startCrawl(), 30);
  cpSync(stage.dir, early(), { recursive: true });
  await killAt(stage.startResume(), 65);
  cpSync(stage.dir, late(), { recursive: true });
});

after(() => stage.close());

const backTo = (copy: string): void => {
  rmSync(stage.dir, { recursive: true });
  cpSync(copy, stage.dir, { recursive: true });
};

const warcOf = (): string => join(stage.dir, 'warc', readdirSync(join(stage.dir, 'warc')).at(-1)!);

/** The place of a settled page at about this share of the archive. */
const pageAt = async (share: number): Promise<{ url: string; offset: number }> => {
  const pages = (await stage.pages()).filter((page) => page.warc_file !== null);
  const { url, warc_offset } = pages[Math.floor(pages.length * share)]!;
  return { url, offset: warc_offset! };
};

const assertCompletes = async (): Promise<void> => {
  assertCode(await stage.resume(), 0);
  assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
  const ran = await stage.gossamer('verify', stage.dir);
  assertCode(ran, 0);
  assert.match(ran.stdout, /^verified 90 pages, .*: no damage\n$/);
};

const LOSSES: readonly [what: string, lose: () => Promise<string>][] = [
  [
    'the end of the archive, to the middle of a record',
    async () => {
      const { url, offset } = await pageAt(0.5);
      truncateSync(warcOf(), offset + 150);
      return url;
    },
  ],
  [
    'the end of the archive, which reads as zeros',
    async () => {
      const { url, offset } = await pageAt(0.7);
      const bytes = readFileSync(warcOf());
      writeFileSync(warcOf(), bytes.fill(0, offset + 150));
      return url;
    },
  ],
  [
    'all of the archive, of which an empty file is left',
    async () => {
      truncateSync(warcOf(), 0);
      return (await pageAt(0)).url;
    },
  ],
];

for (const [what, lose] of LOSSES) {
  test(`a power loss that cost ${what}: named, repaired, fetched again`, async () => {
    backTo(late());
    const url = await lose();
    const damaged = await stage.gossamer('verify', stage.dir, '--json');
    assertCode(damaged, 1);
    const { damage, advice } = JSON.parse(damaged.stdout) as { damage: { url?: string }[]; advice: string[] };
    assert.ok(
      damage.some((one) => one.url === url),
      damaged.stdout,
    );
    assert.deepEqual(advice, []);
    assertCode(await stage.gossamer('verify', stage.dir, '--repair'), 0);
    await assertCompletes();
  });
}

test('a power loss that cost the last commits leaves an archive that is too long, which a resume cuts', async () => {
  backTo(late());
  for (const name of readdirSync(stage.dir).filter((one) => one.startsWith('crawl.db'))) rmSync(join(stage.dir, name));
  for (const name of readdirSync(early()).filter((one) => one.startsWith('crawl.db')))
    cpSync(join(early(), name), join(stage.dir, name));
  const ran = await stage.gossamer('verify', stage.dir);
  assertCode(ran, 0);
  assert.match(ran.stdout, /^left by a kill: .* after its settled end/m);
  await assertCompletes();
});

test('a resume does not go on behind an archive that is shorter than what was settled', async () => {
  backTo(late());
  const { offset } = await pageAt(0.5);
  truncateSync(warcOf(), offset);
  const ran = await stage.resume();
  assertCode(ran, 1);
  assert.match(ran.stdout, /has \d+ bytes, but \d+ were settled/);
});
