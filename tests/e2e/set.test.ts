/** `gossamer set`: a change reaches a crawl that runs, and one that does not; SQLite is written by one process. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Identity } from '../../src/folder/folder.ts';
import { ledgerOf } from '../support/ledger-check.ts';
import { obeyed } from '../support/obeyed.ts';
import { assertCode, onStage, plainPlan, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const identityOf = (dir: string): Identity => JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as Identity;

interface Printed {
  readonly change: number;
  readonly isNew: boolean;
  readonly settings: Readonly<Record<string, { readonly was: unknown; readonly now: unknown }>>;
  readonly excluded: { readonly was: number; readonly now: number } | null;
}

const set = async (stage: Stage, ...words: readonly string[]): Promise<Printed> => {
  const ran = await stage.gossamer('set', stage.dir, ...words, '--json');
  assertCode(ran, 0);
  return JSON.parse(ran.stdout) as Printed;
};

/** Hosts that are found by links. */
const hostsOf = (stage: Stage): string[] => {
  const seeds = stage.world.seeds().map((seed) => new URL(seed).hostname);
  return [...new Set(stage.served.record.requests.map(({ host }) => host))].filter((host) => !seeds.includes(host));
};

test('a crawl that runs takes a change of delay, name and exclude list for the visits that begin then', () =>
  onStage(plainPlan(4, 8_000, 2_000), async (stage) => {
    const { requests } = stage.served.record;
    const running = stage.startCrawl({ 'disk-reserve': '10MiB', fetchers: 2 });
    await until(
      'all sites are crawled',
      () => new Set(requests.map(({ site }) => site)).size === 4 && requests.length > 50,
    );
    assert.equal(statSync(join(stage.dir, 'control.sock')).mode & 0o777, 0o600);
    const [pattern, listed] = hostsOf(stage);
    const list = join(stage.home, 'never.txt');
    writeFileSync(list, `${listed}\n`);
    const words = ['--delay', '700ms', '--user-agent', 'Second/2', '--exclude', pattern!, '--exclude-file', list];
    const printed = await set(stage, ...words);
    assert.deepEqual([printed.change, printed.isNew, printed.excluded], [2, true, { was: 0, now: 1 }]);
    assert.deepEqual(printed.settings, {
      delay: { was: '50ms', now: '700ms' },
      exclude: { was: [], now: [pattern] },
      'user-agent': { was: '', now: 'Second/2' },
    });
    const again = await set(stage, ...words);
    assert.deepEqual([again.change, again.isNew, again.settings], [2, false, {}]);
    const said = { userAgent: 'Second/2', delayMs: 700, excluded: [pattern!, listed!] };
    await until('visits begin under it', () => obeyed(requests, said).count >= 8);
    running.send('SIGINT');
    assertCode(await running.ended, 3);
    assert.equal(existsSync(join(stage.dir, 'control.sock')), false);
    assert.deepEqual(obeyed(requests, said).wrong, []);

    const { settings, journal } = identityOf(stage.dir);
    assert.deepEqual(
      [settings.delayMs, settings.userAgent, settings.exclude, journal?.number],
      [700, 'Second/2', [pattern], 2],
    );
    assert.equal(readFileSync(join(stage.dir, 'exclude.txt'), 'utf8'), `${listed}\n`);
    const notes = ledgerOf(stage.dir);
    const late = notes.filter(({ request }) => request.entry === 2);
    assert.ok(late.length >= 8);
    assert.ok(late.every(({ head }) => head.userAgent.startsWith('Second/2') && head.delayMs === 700));
    assert.ok(notes.every(({ request }) => request.entry === 1 || request.entry === 2));
    assertCode(await stage.gossamer('audit', stage.dir), 0);
    assertCode(await stage.gossamer('verify', stage.dir), 0);

    // A later run keeps it, whatever its crawl.json says: the journal is the truth.
    writeFileSync(
      join(stage.dir, 'crawl.json'),
      JSON.stringify({ ...identityOf(stage.dir), settings: { ...settings, userAgent: 'Stale/1', delayMs: 1 } }),
    );
    stage.served.record.clear();
    const resumed = stage.startResume();
    await until('it goes on', () => requests.length > 2);
    resumed.send('SIGINT');
    assertCode(await resumed.ended, 3);
    const { count, wrong } = obeyed(requests, said);
    assert.deepEqual([count, wrong], [requests.length, []]);
    assert.equal(identityOf(stage.dir).settings.userAgent, 'Second/2');
  }));

test('links that a change refuses are held, and come back with another change while the crawl runs', () =>
  onStage(plainPlan(4, 400, 100), async (stage) => {
    const { requests } = stage.served.record;
    // Slow, so that it does not end before it is changed, however slow the machine is.
    const running = stage.startCrawl({ delay: '1s' });
    await until('all sites are crawled', () => hostsOf(stage).length >= 3);
    const [away] = hostsOf(stage);
    await set(stage, '--exclude', away!, '--user-agent', 'Narrow/2');
    await until(
      'visits begin under it',
      () => requests.filter((seen) => seen.userAgent.startsWith('Narrow/2')).length > 4,
    );
    await until('links of it are held', async () => (await stage.status()).held > 0);
    assert.ok(!requests.some((seen) => seen.host === away && seen.userAgent.startsWith('Narrow/2')));
    const wide = await set(stage, '--exclude', 'none', '--user-agent', 'Wide/3', '--delay', '50ms');
    assert.deepEqual(wide.settings.exclude, { was: [away], now: [] });
    assertCode(await running.ended, 0);
    assert.ok(requests.some((seen) => seen.host === away && seen.userAgent.startsWith('Wide/3')));
    const { held, waiting, settled } = await stage.status();
    assert.deepEqual([held, waiting, settled], [0, 0, 400]);
  }));

test('a crawl that does not run is changed, and the next run obeys; a limit that is raised goes on', () =>
  onStage(plainPlan(3, 40), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 4, 'max-depth': 1 }), 0);
    const ran = await stage.gossamer(
      'set',
      stage.dir,
      '--max-pages',
      'none',
      '--max-depth',
      'none',
      '--user-agent',
      'Third/3',
    );
    assertCode(ran, 0);
    assert.equal(
      ran.stdout,
      'change 2\n  user-agent: none -> Third/3\n  max-pages: 4 -> none\n  max-depth: 1 -> none\n',
    );
    assert.equal(identityOf(stage.dir).widened, true, 'archived pages are read again');
    const nothing = await stage.gossamer('set', stage.dir, '--max-pages', 'none');
    assert.equal(nothing.stdout, 'nothing differs from what is in force; the last change is number 2\n');
    const before = stage.served.record.requests.length;
    assertCode(await stage.resume(), 0);
    const later = stage.served.record.requests.slice(before);
    assert.ok(later.length > 0 && later.every(({ userAgent }) => userAgent.startsWith('Third/3')));
    const { waiting, held } = await stage.status();
    assert.deepEqual([waiting, held], [0, 0]);
    // A resume writes one change, and none when nothing differs.
    assertCode(await stage.resume({ delay: '60ms', 'park-after': 5, email: 'test@example.org' }), 0);
    assert.equal(identityOf(stage.dir).journal?.number, 3);
    assertCode(await stage.resume({ delay: '60ms', fetchers: 2 }), 0);
    assert.deepEqual([identityOf(stage.dir).journal?.number, identityOf(stage.dir).settings.fetchers], [3, 2]);
  }));

test('what cannot be set is refused in a sentence, and nothing is changed', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    assertCode(await stage.crawl(), 0);
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [[stage.dir, '--fetchers', '2'], /^gossamer: --fetchers belongs to one process, not to the whole crawl: /],
      [[stage.dir, '--hooks', 'a.mjs'], /--hooks belongs to one process/],
      [[stage.dir, '--frontier', 'files'], /--frontier is chosen when a crawl begins, and cannot be changed/],
      [[stage.dir], /nothing is to be set: give the settings to change/],
      [[stage.dir, '--exclude', 'private'], /--exclude "private" is neither a site nor a glob/],
      [[stage.dir, '--keep', 'none', '--keep-links'], /--keep-links puts the links of pages into the archive/],
      [[stage.dir, '--max-pages', '0'], /--max-pages 0 is not understood: the least is 1/],
      [['--delay', '5s'], /which crawl is missing: give its directory/],
      [['nothing', '--delay', '5s'], /there is no crawl in "nothing"/],
      [[stage.dir, 'more', '--delay', '5s'], /"more" is one word too many/],
    ];
    for (const [words, sentence] of wrong) {
      const ran = await stage.gossamer('set', ...words);
      assertCode(ran, 2);
      assert.match(ran.stderr, sentence);
    }
    assert.equal(identityOf(stage.dir).journal?.number, 1);
  }));
