/**
 * Metrics of whole crawls: what is served while they run, and that it agrees with the store, the system and the small
 * web.
 */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { knownTotal, type Census } from '../../src/model/census.ts';
import { DESCRIPTOR_KINDS, fullName, METRIC_NAMES, metricOf } from '../../src/observe/metrics/table.ts';
import { articleUrl } from '../../src/world/articles.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import type { Running } from '../support/binary.ts';
import { serveHeldSites } from '../support/held-site.ts';
import { readMetrics, sumOf, sumsBy, type Point } from '../support/metrics-text.ts';
import { POISON_FILE } from '../support/poison-parse-thread.ts';
import { readIdentity } from '../../src/folder/folder.ts';
import { entry, runHere } from '../support/run-here.ts';
import { SHARED_STORES } from '../support/shared-servers.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

const LOOK_MS = 50;

/** Everything that one crawl showed, look by look. */
const watched = async (run: Running): Promise<string[]> => {
  const texts: string[] = [];
  while (!run.isOver()) {
    const url = /^metrics at (\S+)$/m.exec(run.said())?.[1];
    if (url)
      await fetch(url).then(
        async (answer) => texts.push(await answer.text()),
        () => {},
      ); // it may just have ended
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return texts;
};

const isZero = (points: readonly Point[], name: string): boolean =>
  points.every((point) => (point.name !== name && point.name !== `${name}_count`) || point.value === 0);

/** No counter ever goes down, from look to look. */
const assertNeverDown = (looks: readonly (readonly Point[])[]): void => {
  const highest = new Map<string, number>();
  for (const points of looks) {
    for (const { name, labels, value } of points) {
      if (!/_(?:total|bucket|sum|count)$/.test(name)) continue;
      const series = `${name} ${JSON.stringify(labels)}`;
      assert.ok(value >= (highest.get(series) ?? 0), `${series} went from ${highest.get(series)} to ${value}`);
      highest.set(series, value);
    }
  }
};

/** What the threads counted is what the store counted. */
const assertAgree = (points: readonly Point[], census: Census): void => {
  assert.deepEqual(sumsBy(points, 'gossamer_pages_total', 'outcome'), census.settled);
  assert.equal(sumOf(points, 'gossamer_links_admitted_total'), knownTotal(census));
  assert.equal(sumOf(points, 'gossamer_links', { state: 'settled' }), sumOf(points, 'gossamer_pages_total'));
};

/** A crawl of the small web with threads to spare has no reason for these; other tests have. */
const MAY_BE_ZERO = [
  'thread_restarts_total',
  'backpressure_total',
  'claiming_stopped_seconds_total',
  'parse_backlog',
  'visits_waiting_for_parser',
  'body_memory_bytes',
];

test('every metric of the table is served while a crawl runs, with HELP and TYPE, and is set by somebody', () =>
  onStage(tinyPlan, async (stage) => {
    const run = stage.startCrawl({
      metrics: '0',
      fetchers: 2,
      parsers: 1,
      sitemaps: true,
      'max-waiting-per-site': 5,
      'max-depth': 2,
    });
    const texts = await watched(run);
    assertCode(await run.ended, 0);
    const looks = texts.map(readMetrics);
    const last = texts.at(-1) ?? assert.fail('nothing was served');
    const expected = METRIC_NAMES.filter((name) => name !== 'open_descriptors' || existsSync('/proc/self/fd'));
    for (const name of expected) {
      const { type } = metricOf(name);
      assert.match(
        last,
        new RegExp(`^# HELP ${fullName(name)} .+\n# TYPE ${fullName(name)} ${type}\n${fullName(name)}[{_ ]`, 'm'),
        name,
      );
    }
    const dead = expected.filter(
      (name) => !MAY_BE_ZERO.includes(name) && looks.every((points) => isZero(points, fullName(name))),
    );
    assert.deepEqual(dead, [], 'these were 0 all the time');
    assertNeverDown(looks);
    for (const kind of ['page', 'robots', 'sitemap'])
      assert.ok(sumOf(looks.at(-1)!, 'gossamer_requests_total', { kind })! > 0, kind);
    for (const phase of ['lookup', 'connect', 'tls', 'first-byte', 'total'])
      assert.ok(sumOf(looks.at(-1)!, 'gossamer_fetch_seconds_count', { phase })! > 0, phase);
    assert.ok(looks.some((points) => sumOf(points, 'gossamer_sockets', { scheme: 'https' })! > 0));
    const threads = new Set(looks.at(-1)!.flatMap(({ labels }) => labels.thread ?? []));
    assert.deepEqual(threads, new Set(['main', 'store', 'parse-1', 'fetch-1', 'fetch-2']));
    assert.deepEqual(new Set(looks.at(-1)!.flatMap(({ labels }) => labels.store ?? [])), new Set(['sqlite']));
    const kinds = new Set(
      looks.flatMap((points) =>
        points.filter(({ name }) => name === 'gossamer_open_descriptors').map(({ labels }) => labels.kind!),
      ),
    );
    if (expected.includes('open_descriptors')) assert.deepEqual(kinds, new Set(DESCRIPTOR_KINDS));
    for (const host of stage.world.sites.flatMap((site) => site.hosts))
      assert.ok(!last.includes(host), `a site is in the metrics: ${host}`);
  }));

test('fetch and parse threads are killed and started again: no counter goes down, and the threads count what the store counts', () =>
  onStage(plainPlan(16, 160, 20), async (stage) => {
    const { world } = stage;
    const leaves = world.sites.slice(0, 2).map((site) => articleUrl(world.plan, site, site.pages - 1));
    const looks: Point[][] = [];
    const { end, logged, metrics } = await runHere(stage, {
      entries: { fetch: entry('poison-fetch-thread'), parse: entry('poison-parse-thread') },
      prepare: () =>
        writeFileSync(
          join(stage.dir, POISON_FILE),
          JSON.stringify(Object.fromEntries(leaves.map((leaf) => [leaf, 'exit']))),
        ),
      onLook: (run) => void looks.push(readMetrics(run.metrics())),
    });
    assert.equal(end.reason, 'finished', logged.join('\n'));
    assert.match(logged.join('\n'), /thread fetch-1 died/);
    assert.match(logged.join('\n'), /thread parse-1 died/);
    const points = readMetrics(metrics);
    assert.equal(sumOf(points, 'gossamer_thread_restarts_total'), end.snapshot.restarts);
    assertNeverDown([...looks, points]);
    assertAgree(points, end.census!);
    assert.equal(sumOf(points, 'gossamer_pages_total', { outcome: 'parse-failed' }), leaves.length);
    // What a dead thread had asked for was asked for again, so there are at least as many.
    assert.ok(
      sumOf(points, 'gossamer_requests_total', { kind: 'page' })! >= world.reachable().pages.size - leaves.length,
    );
    assert.ok(
      sumOf(points, 'gossamer_parsed_total', { thread: 'parse-1' })! >= world.reachable().pages.size - leaves.length,
    );
    assert.equal(sumOf(points, 'gossamer_visits'), 0);
  }));

test('metrics are there before the store is open, and with --parsers 0 the fetch threads count what they parse', () =>
  onStage(plainPlan(4, 20), async (stage) => {
    let opening = 0;
    const { end, metrics } = await runHere(stage, {
      settings: { parsers: 0, metrics: '0' },
      onMetrics: (_url, run) =>
        (opening = sumOf(readMetrics(run.metrics()), 'gossamer_phase', { phase: 'opening' }) ?? 0),
    });
    assert.equal(opening, 1);
    const points = readMetrics(metrics);
    assertAgree(points, end.census!);
    assert.equal(sumOf(points, 'gossamer_parsed_total', { thread: 'fetch-1' }), end.census!.settled.fetched);
  }));

for (const [name, start] of Object.entries(SHARED_STORES)) {
  test(`${name}: the metrics are served, agree with the store, and show its verbs and connections`, async () => {
    const server = await start();
    try {
      await onStage(plainPlan(6, 60, 20), async (stage) => {
        const served: Promise<string>[] = [];
        let isServed: string | null = null;
        const { end, logged, metrics } = await runHere(stage, {
          settings: { store: await server.place(), metrics: '0' },
          onMetrics: (url) => (isServed = url),
          // From then on: descriptors are looked at once in five seconds, and the store has some by then.
          onLook: (run) =>
            void (
              isServed &&
              run.snapshot().phase === 'crawling' &&
              served.push(
                fetch(isServed).then(
                  (answer) => answer.text(),
                  () => '',
                ),
              )
            ),
        });
        assert.equal(end.reason, 'finished', logged.join('\n'));
        assert.ok(logged.includes(`info metrics at ${isServed}`));
        assertAgree(readMetrics(metrics), end.census!);
        const looks = (await Promise.all(served)).filter((text) => text !== '').map(readMetrics);
        assertNeverDown(looks);
        const most = Math.max(
          ...looks.map((points) => sumOf(points, 'gossamer_store_connections', { store: name }) ?? 0),
        );
        assert.ok(most >= 1 && most <= 4, `${most} connections`);
        if (existsSync('/proc/self/fd'))
          assert.ok(looks.some((points) => sumOf(points, 'gossamer_open_descriptors', { kind: 'store' })! >= 1));
        const verbs = sumsBy(readMetrics(metrics), 'gossamer_store_verb_seconds_count', 'verb');
        assert.deepEqual(Object.keys(verbs).toSorted(), ['admit', 'census', 'claim', 'journal', 'settle', 'steer']);
        const { id, member = id, settings } = readIdentity(stage.dir);
        for (const { name: metric, labels } of looks.flat())
          assert.deepEqual([labels.crawl, labels.member], [settings.name, member], metric);
        await assert.rejects(fetch(isServed!), 'it is closed when the crawl ends');
      });
    } finally {
      await server.remove();
    }
  });
}

/** On one connection, which is then among the descriptors before and after. */
const scrape = (agent: Agent, url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      let text = '';
      answer
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .on('end', () => resolve(text));
    }).on('error', reject);
  });

test('descriptors by kind add up to those that the system counts', { skip: !existsSync('/proc/self/fd') }, async () => {
  const sites = await serveHeldSites(20);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await onStage(plainPlan(1, 1), async (stage) => {
      writeFileSync(stage.seedFile, sites.seeds.map((seed) => `${seed}\n`).join(''));
      const run = stage.startCrawl({ 'connect-to': sites.connectTo, timeout: '10m', metrics: '0' });
      await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
      const url = /^metrics at (\S+)$/m.exec(run.said())?.[1] ?? assert.fail(run.said());
      const inSystem = (): number => readdirSync(`/proc/${run.pid}/fd`).length;
      await scrape(agent, url);
      // A look is up to five seconds old, and idle connections of the start may still be closing.
      let counts: Record<string, number> = {};
      let total = -1;
      await until('the kinds add up to what the system counts', async () => {
        const before = inSystem();
        counts = sumsBy(readMetrics(await scrape(agent, url)), 'gossamer_open_descriptors', 'kind');
        total = Object.values(counts).reduce((sum, n) => sum + n, 0);
        return total === before && total === inSystem();
      });
      assert.equal(counts.http, sites.seeds.length);
      assert.ok(counts.store! >= 1 && counts.files! >= 1 && counts.pipes! >= 1, JSON.stringify(counts));
      sites.release();
      assertCode(await run.ended, 0);
    });
  } finally {
    agent.destroy();
    await sites.close();
  }
});

test('a port that is taken or makes no sense is refused before anything is made or changed', () =>
  onStage(plainPlan(1, 3), async (stage) => {
    const other = createServer();
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = other.address() as AddressInfo;
      const wrong: readonly (readonly [string, RegExp])[] = [
        [
          String(port),
          new RegExp(
            `^gossamer: --metrics "${port}" cannot be served: port ${port} is taken; choose another, or 0 for any that is free\n$`,
          ),
        ],
        ['soon', /^gossamer: --metrics "soon" is not understood: write PORT or HOST:PORT/],
        ['70000', /is not understood/],
        ['192.0.2.1:9464', /192\.0\.2\.1 is no address of this machine/],
      ];
      for (const [metrics, says] of wrong) {
        const ran = await stage.crawl({ metrics });
        assertCode(ran, 2);
        assert.match(ran.stderr, says);
        assert.equal(existsSync(stage.dir), false);
      }
      assertCode(await stage.crawl({ 'max-pages': 1 }), 0);
      const before = readFileSync(join(stage.dir, 'crawl.json'), 'utf8');
      const ran = await stage.resume({ metrics: port });
      assertCode(ran, 2);
      assert.match(ran.stderr, /is taken/);
      assert.equal(readFileSync(join(stage.dir, 'crawl.json'), 'utf8'), before);
      assertCode(await stage.resume({ metrics: '127.0.0.1:0', 'max-pages': 'none' }), 0);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  }));
