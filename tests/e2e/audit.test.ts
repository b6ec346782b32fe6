/** The ledger of a real crawl against the small web's own record, and what `audit` says of it. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tinyPlan } from '../../src/world/presets.ts';
import { figuresLine, killCrawl } from '../support/kill-crawl.ts';
import { compareWith, ledgerOf } from '../support/ledger-check.ts';
import { assertCode, DELAY_MS, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

test('through kills, every request that the small web saw is in the ledger once, and the audit finds no violation', (t) =>
  onStage(plainPlan(60, 240, 4), async (stage) => {
    const seed = Number(process.env.GOSSAMER_KILL_SEED ?? Date.now() % 1_000_000);
    const figures = await killCrawl(stage, { rounds: 5, seed });
    t.diagnostic(figuresLine(figures));
    assert.deepEqual(figures.violations.slice(0, 10), [], `again with GOSSAMER_KILL_SEED=${seed}`);
    const { requests } = stage.served.record;
    const { wrong, noted, doubtful } = compareWith(ledgerOf(stage.dir), requests);
    t.diagnostic(`${requests.length} requests seen, ${noted} noted, ${doubtful} without a response`);
    assert.deepEqual(wrong, [], `again with GOSSAMER_KILL_SEED=${seed}`);
    assert.ok(requests.length > 0 && noted >= requests.length);
    const audited = await stage.gossamer('audit', stage.dir);
    assertCode(audited, 0);
    const sites = new Set(requests.map(({ site }) => site)).size;
    assert.match(audited.stdout, new RegExp(`(^|\\n)${noted} requests, ${sites} sites, 0 violations\\n$`));
    assert.deepEqual(
      readdirSync(join(stage.dir, 'ledger')).filter((name) => !name.endsWith('.zst')),
      [],
      'all is packed in the end',
    );
  }));

test('an odd web over http and https is noted request by request, and a running crawl can be audited', () =>
  onStage(tinyPlan, async (stage) => {
    const run = stage.startCrawl();
    await until('some requests were seen', () => stage.served.record.requests.length >= 30);
    const early = await stage.gossamer('audit', stage.dir);
    assertCode(early, 0);
    // A robots.txt is archived when its visit is settled: what is under way cannot be judged yet.
    assert.match(early.stdout, /^\d+ requests, \d+ sites, 0 violations(, \d+ cannot be judged)?\n$/m);
    assertCode(await run.ended, 0);
    const noted = ledgerOf(stage.dir);
    assert.deepEqual(compareWith(noted, stage.served.record.requests).wrong, []);
    assert.ok(
      noted.some(({ request }) => request.kind === 'follow'),
      'a robots.txt redirected',
    );
    assert.ok(
      noted.every(({ end }) => end !== null),
      'every request has an end',
    );
    assert.ok(
      noted.every(({ request }) => request.delayMs >= DELAY_MS) &&
        noted.some(({ request }) => request.restMs >= DELAY_MS),
      'the delays in force are noted',
    );
    const audited = await stage.gossamer('audit', stage.dir, '--json');
    assertCode(audited, 0);
    const report = JSON.parse(audited.stdout) as { requests: number; violationCount: number; unchecked: object };
    assert.deepEqual([report.requests, report.violationCount, report.unchecked], [noted.length, 0, {}]);
  }));

test('the text for a site owner says who visited, when, how often, how far apart, and by which rules', () =>
  onStage({ ...plainPlan(6, 60, 12), oddities: true }, async (stage) => {
    assertCode(await stage.crawl(), 0);
    const withRules = ledgerOf(stage.dir).find(
      ({ request }) =>
        stage.world.policy(new URL(request.url).host)?.text.includes('Disallow: /private/') && request.kind === 'page',
    );
    assert.ok(withRules);
    const { site } = withRules.request;
    const ran = await stage.gossamer('audit', stage.dir, '--site', `https://www.${site}/`);
    assertCode(ran, 0);
    const noted = ledgerOf(stage.dir).filter(({ request }) => request.site === site);
    const says = [
      `Requests from a crawler to ${site}`,
      `sent ${noted.length} requests to ${site}`,
      '"Gossamer/',
      'test@example.org',
      'The crawler is set to leave at least 50 ms between the starts of two visits',
      'Every visit kept the delay',
      'No two visits overlapped.',
      'Disallow: /private/',
      'robots.txt was followed',
      ...noted.map(({ request }) => request.url),
    ];
    assert.deepEqual(
      says.filter((text) => !ran.stdout.includes(text)),
      [],
      ran.stdout,
    );
    const none = await stage.gossamer('audit', stage.dir, '--site', 'never-visited.example');
    assertCode(none, 0);
    assert.match(none.stdout, /^No request to never-visited\.example is in the ledger of this crawl\.\n$/);
    for (const words of [[], [join(stage.home, 'nowhere')], [stage.dir, '--site', 'http://']])
      assertCode(await stage.gossamer('audit', ...words), 2);

    rmSync(join(stage.dir, 'ledger'), { recursive: true });
    const gone = await stage.gossamer('audit', stage.dir);
    assertCode(gone, 1);
    assert.match(gone.stdout, /damage: ".*" has no ledger: /);
  }));

test('with the ledger off nothing is noted, and the audit says so', () =>
  onStage(plainPlan(2, 10, 5), async (stage) => {
    assertCode(await stage.crawl({ ledger: 'off' }), 0);
    assert.ok(!existsSync(join(stage.dir, 'ledger')));
    const ran = await stage.gossamer('audit', stage.dir);
    assertCode(ran, 1);
    assert.match(ran.stdout, /has no ledger: it is off \(--ledger off\)/);
  }));

const mount = (...args: readonly string[]): boolean => spawnSync('mount', args, { stdio: 'ignore' }).status === 0;

test('a request that the full disk has no room to note is not sent: the crawl stops in order, and a resume completes it', (t) =>
  onStage(plainPlan(12, 240, 40), async (stage) => {
    const ledger = join(stage.dir, 'ledger');
    assertCode(await stage.crawl({ 'max-pages': 5 }), 0);
    // Only the ledger has a full disk.
    if (!mount('-t', 'tmpfs', '-o', 'size=12k', 'gossamer-test', ledger))
      return t.skip('no file system can be mounted here');
    try {
      const before = stage.served.record.requests.length;
      const ran = await stage.resume({ 'max-pages': 'none', 'disk-reserve': '0' });
      assertCode(ran, 4);
      assert.match(ran.stderr, /a request cannot be noted in the ledger: ENOSPC.*: free .*resume/);
      const noted = ledgerOf(stage.dir);
      assert.ok(noted.length > 0, 'some requests had room');
      assert.deepEqual(compareWith(noted, stage.served.record.requests.slice(before)).wrong, []);
      assert.ok(mount('-o', 'remount,size=10m', ledger));
      assertCode(await stage.resume(), 0);
      assert.deepEqual(compareWith(ledgerOf(stage.dir), stage.served.record.requests.slice(before)).wrong, []);
      assert.equal((await stage.status()).waiting, 0);
    } finally {
      spawnSync('umount', ['-l', ledger], { stdio: 'ignore' });
    }
  }));
