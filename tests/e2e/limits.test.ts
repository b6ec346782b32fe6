/** Limits and scope of a crawl with the real binary: they hold exactly, and a resume can move them. */

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { urlOf } from '../../src/world/seen.ts';
import { archivedIn, countByUrl } from '../support/archive-check.ts';
import { reachOf } from '../support/reach.ts';
import { assertAddsUp, assertCode, assertNoFault, onStage, plainPlan, type Stage } from '../support/stage.ts';

const sorted = (urls: Iterable<string>): string[] => [...urls].toSorted();
const asked = ({ served }: Stage): string[] => served.record.requests.filter((seen) => seen.kind === 'page').map(urlOf);

test('--max-pages is exact however many visits there are at once, over the whole crawl and not per run', () =>
  onStage(plainPlan(40, 240, 20), async (stage) => {
    for (const pages of [37, 60]) {
      const ran = await (pages === 37
        ? stage.crawl({ 'max-pages': pages, concurrency: 1_000 })
        : stage.resume({ 'max-pages': pages }));
      assertCode(ran, 0);
      assert.match(
        ran.stdout,
        new RegExp(`reached --max-pages.* go on\\n +gossamer resume \\S+ --max-pages ${2 * pages}\\n$`, 's'),
        'a bare resume would end at once',
      );
      const status = await stage.status();
      assertAddsUp(status);
      assert.deepEqual([status.pages, status.leased], [pages, 0]);
      assert.ok(status.waiting > 0);
      assert.equal((await stage.pages()).filter((row) => row.status !== null).length, pages);
      assert.equal(
        [...countByUrl(await archivedIn(stage.dir)).values()].reduce((sum, n) => sum + n, 0),
        pages,
      );
      assert.equal(asked(stage).length, pages);
    }
    assertNoFault(stage.report(), 'missing');
  }));

test('--max-depth follows links that far from a seed and no further', () =>
  onStage(plainPlan(8, 120, 30), async (stage) => {
    assertCode(await stage.crawl({ 'max-depth': 1 }), 0);
    assert.deepEqual(sorted(asked(stage)), sorted(reachOf(stage.world, { depthMax: 1 })));
    assert.deepEqual(new Set((await stage.pages()).map((row) => row.depth)), new Set([0, 1]));
  }));

test('--max-pages-per-site holds the other links of a site, and a resume with a higher budget brings them back', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const ran = await stage.crawl({ 'max-pages-per-site': 3 });
    assertCode(ran, 0);
    assert.match(ran.stdout, /held +[1-9]\d* +on \d sites over --max-pages-per-site/);
    const status = await stage.status();
    assertAddsUp(status);
    assert.ok(status.held > 0 && status.sites.held > 0);
    const bySite = Object.values(Object.groupBy(await stage.pages(), (row) => row.site)).map(
      (rows) => rows?.length ?? 0,
    );
    assert.equal(Math.max(...bySite), 3);

    assertCode(await stage.resume({ 'max-pages-per-site': 1_000 }), 0);
    const after = await stage.status();
    assertAddsUp(after);
    assert.deepEqual([after.held, after.sites.held, after.waiting], [0, 0, 0]);
    assertNoFault(stage.report());
  }));

test('--max-duration ends the run in order, and a resume goes on', () =>
  onStage(plainPlan(3, 12), async (stage) => {
    const ran = await stage.crawl({ delay: '1s', 'max-duration': '1500ms' });
    assertCode(ran, 0);
    assert.match(ran.stdout, /reached --max-duration/);
    const status = await stage.status();
    assert.ok(status.waiting > 0);
    assert.equal(status.leased, 0);
    assertCode(await stage.resume({ delay: '50ms', 'max-duration': '10m' }), 0);
    assertNoFault(stage.report());
  }));

test('--seeded-only stays on the sites of the seeds', () =>
  onStage(plainPlan(12, 80, 20), async (stage) => {
    assertCode(await stage.crawl({ 'seeded-only': true }), 0);
    const wants = (host: string): boolean => stage.world.siteOf(host)?.seeded === true;
    assert.deepEqual(sorted(asked(stage)), sorted(reachOf(stage.world, { wants })));
    assert.ok(stage.served.record.requests.every((seen) => wants(seen.host)));
  }));

test('nothing in the exclude file is visited, be it a whole domain or one host of a site', () =>
  onStage(plainPlan(12, 120, 20), async (stage) => {
    const { world, home } = stage;
    const domain = world.sites.find((site) => site.index === 1)?.name as string;
    const host = world.sites
      .filter((site) => site.hosts.length > 2 && site.index % 4 === 2)
      .toSorted((a, b) => b.pages - a.pages)[0]
      ?.hosts.at(-1) as string;
    const file = join(home, 'exclude.txt');
    writeFileSync(file, `# not these\n\n${domain}\n  ${host.toUpperCase()}   # one host only\n`);
    assertCode(await stage.crawl({ 'exclude-file': file }), 0);

    const wants = (name: string): boolean => name !== host && world.siteOf(name)?.name !== domain;
    assert.ok(
      [...world.reachable().pages].some((url) => new URL(url).host === host),
      'the host has pages to be excluded',
    );
    assert.deepEqual(
      stage.served.record.requests.filter((seen) => !wants(seen.host)),
      [],
    );
    assert.deepEqual(sorted(asked(stage)), sorted(reachOf(world, { wants })));
  }));

test('on a resume that excludes more, waiting links are held without a request', () =>
  onStage(plainPlan(8, 80, 20), async (stage) => {
    const { world, home, served } = stage;
    const [first, ...others] = world.sites;
    assertCode(await stage.crawl({ 'max-pages': 12 }), 0);
    const before = (await stage.pages()).length;
    served.record.clear();
    const file = join(home, 'exclude.txt');
    writeFileSync(file, others.map((site) => `${site.name}\n`).join(''));
    assertCode(await stage.resume({ 'exclude-file': file, 'max-pages': 1_000 }), 0);
    assert.deepEqual(
      served.record.requests.filter((seen) => seen.site !== first?.name),
      [],
    );
    const rows = (await stage.pages()).slice(before);
    assert.deepEqual(
      rows.filter((row) => row.site !== first?.name || row.outcome !== 'fetched'),
      [],
    );
    const { waiting, held } = await stage.status();
    assert.equal(waiting, 0);
    assert.ok(held > 0);
  }));

test('on a resume with a lower --max-depth, waiting links are held without a request', () =>
  onStage(plainPlan(8, 80, 20), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 12 }), 0);
    stage.served.record.clear();
    assertCode(await stage.resume({ 'max-depth': 0, 'max-pages': 1_000 }), 0);
    assert.deepEqual(
      asked(stage).filter((url) => !stage.world.seeds().includes(url)),
      [],
    );
    const { waiting, held } = await stage.status();
    assert.equal(waiting, 0);
    assert.ok(held > 0);
  }));

for (const [fetchers, parsers] of [
  [2, 2],
  [1, 0],
] as const) {
  test(`nothing is lost or done twice with ${fetchers} fetch threads and ${parsers} parse threads`, () =>
    onStage(plainPlan(12, 100, 20), async (stage) => {
      assertCode(await stage.crawl({ fetchers, parsers }), 0);
      assertNoFault(stage.report());
      assert.deepEqual(sorted(countByUrl(await archivedIn(stage.dir)).keys()), sorted(stage.world.reachable().pages));
    }));
}

test('thread counts may change from run to run, and robots.txt is not asked for again', () =>
  onStage(plainPlan(12, 120, 20), async (stage) => {
    assertCode(await stage.crawl({ fetchers: 2, parsers: 2, 'max-pages': 30 }), 0);
    assertCode(await stage.resume({ fetchers: 1, parsers: 0, 'max-pages': 60 }), 0);
    assertCode(await stage.resume({ fetchers: 3, parsers: 1, 'max-pages': 10_000 }), 0);
    assertNoFault(stage.report());
    const robots = stage.served.record.requests.filter((seen) => seen.kind === 'robots').map(urlOf);
    assert.equal(new Set(robots).size, robots.length);
  }));

test('--keep text archives the text of every page once and no response', () =>
  onStage(plainPlan(4, 30), async (stage) => {
    assertCode(await stage.crawl({ keep: 'text' }), 0);
    const records = await archivedIn(stage.dir);
    assert.equal(countByUrl(records).size, 0);
    const texts = countByUrl(records, 'conversion');
    assert.deepEqual(sorted(texts.keys()), sorted(stage.world.reachable().pages));
    assert.deepEqual(new Set(texts.values()), new Set([1]));
    const [row] = await stage.pages({ limit: 1 });
    const ran = await stage.gossamer('show', stage.dir, row?.url ?? '', '--text');
    assertCode(ran, 0);
    assert.match(ran.stdout, /a page of the small web/);
    assert.match(
      (await stage.gossamer('show', stage.dir, row?.url ?? '', '--html')).stderr,
      /^gossamer: the archive has no html of .*, and --keep is text\n$/,
    );
  }));

test('--keep none archives nothing, and the pages are counted all the same', () =>
  onStage(plainPlan(4, 30), async (stage) => {
    assertCode(await stage.crawl({ keep: 'none' }), 0);
    assert.equal(existsSync(join(stage.dir, 'warc')), false);
    const rows = await stage.pages();
    assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
    assert.equal(rows.length, stage.world.reachable().pages.size);
    assert.ok(rows.every((row) => row.warc_file === null && row.digest !== '' && row.title !== ''));
  }));
