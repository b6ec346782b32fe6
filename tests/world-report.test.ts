/** The report of the small web finds each kind of misconduct, and nothing in a good crawl. */

import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { Report } from '../src/world/report.ts';
import type { Seen } from '../src/world/seen.ts';
import { tinyPlan } from '../src/world/presets.ts';
import { reportOn } from '../src/world/report.ts';
import { createWorld } from '../src/world/world.ts';

const world = createWorld(tinyPlan);
const { pages, forbidden, failing } = world.reachable();
const DELAY_MS = 1_000;

/** A request at this moment, whose answer took 50 ms. */
const seen = (url: string, at: number, more: Partial<Seen> = {}): Seen => {
  const { protocol, host, pathname, search } = new URL(url);
  const path = pathname + search;
  const robots = world.robotsPath(host, path);
  return {
    site: world.siteOf(host)?.name ?? host,
    host,
    scheme: protocol.slice(0, -1),
    path,
    at,
    endedAt: at + 50,
    status: 200,
    userAgent: 'test',
    kind: robots === null ? 'page' : 'robots',
    exempt: robots === 'away',
    whole: robots !== null || pages.has(url),
    ...more,
  };
};

/** Every reachable page once, each site at its pace, robots.txt first on each origin. */
const goodCrawl = (): Seen[] => {
  const clocks = new Map<string, number>();
  const origins = new Set<string>();
  const requests: Seen[] = [];
  for (const url of pages) {
    const { origin, host } = new URL(url);
    const site = world.siteOf(host)?.name ?? '';
    const at = clocks.get(site) ?? 0;
    if (!origins.has(origin)) requests.push(seen(`${origin}/robots.txt`, at));
    origins.add(origin);
    requests.push(seen(url, at + 100));
    clocks.set(site, at + 100 + DELAY_MS);
  }
  return requests;
};

const report = (requests: readonly Seen[], delayMs = DELAY_MS): Report => reportOn(world, requests, { delayMs });

/** What a report complains about, as counts. */
const faults = (found: Report) => ({
  tooEarly: found.tooEarly.length,
  overlaps: found.overlaps.length,
  forbidden: found.forbidden.length,
  twice: found.twice.length,
  missing: found.missing.length,
  unexpected: found.unexpected.length,
  beforeRobots: found.beforeRobots.length,
});
const NONE = { tooEarly: 0, overlaps: 0, forbidden: 0, twice: 0, missing: 0, unexpected: 0, beforeRobots: 0 };
const LATE = 1e9;
/** The hottest site; it has several hosts. */
const HUB = 'https://www.cedar-0000.test';
const page = `${HUB}/`;

test('a good crawl gives a clean report with the right counts', () => {
  const found = report(goodCrawl());
  assert.deepEqual(faults(found), NONE);
  assert.equal(found.pages, pages.size);
});

test('a visit that starts too early is found, to the fraction of a millisecond', () => {
  const twoVisits = (gapMs: number): Report => {
    const [first, second] = [...pages].filter((url) => url.startsWith(`${HUB}/`)) as [string, string];
    return report([seen(new URL('/robots.txt', page).href, 0), seen(first, 60), seen(second, gapMs)]);
  };
  assert.equal(twoVisits(DELAY_MS).tooEarly.length, 0);
  const [gap] = twoVisits(DELAY_MS - 0.01).tooEarly;
  assert.equal(gap?.leastMs, DELAY_MS);
  assert.ok(gap.gapMs < DELAY_MS);
});

test('two hosts of one site share its pace, two users of a private suffix do not', () => {
  const [a, b] = [page, 'https://blog.cedar-0000.test/x'];
  assert.equal(report([seen(a, 0), seen(b, 10)]).tooEarly.length, 1);
  assert.equal(
    report([seen('http://erin-0004.github.io/', 0), seen('https://carol-0010.github.io/', 10)]).tooEarly.length,
    0,
  );
});

test('robots.txt and its page are one visit, on another origin they are two', () => {
  const robots = seen(`${HUB}/robots.txt`, 0);
  assert.equal(report([robots, seen(page, 60)]).tooEarly.length, 0);
  assert.equal(report([robots, seen('https://blog.cedar-0000.test/x', 60)]).tooEarly.length, 1);
  assert.equal(report([robots, seen(`${HUB}/robots.txt`, 60)]).tooEarly.length, 1);
});

test('a robots.txt that redirects stays one visit, and its hop to another site counts for none', () => {
  const moved = world.sites.find((site) => site.trait === 'robots-moved');
  const away = world.sites.find((site) => site.trait === 'robots-moved-away');
  assert.ok(moved && away);
  const origin = `${moved.scheme}://${moved.hosts[0]}`;
  const steps = ['/robots.txt', '/rules/robots.txt', '/rules/current/robots.txt', '/'];
  assert.equal(report(steps.map((path, n) => seen(origin + path, n * 60))).tooEarly.length, 0);
  const from = `${away.scheme}://${away.hosts[0]}`;
  const to = world.look({ scheme: away.scheme, host: away.hosts[0] as string, path: '/robots.txt' }).redirect;
  const hub = new URL('/', to).href;
  const found = report([seen(hub, 0), seen(`${from}/robots.txt`, 10), seen(to, 20), seen(`${from}/`, 30)]);
  assert.deepEqual([found.tooEarly, found.overlaps], [[], []]);
});

test('a Crawl-delay binds from the visit that read it', () => {
  const site = world.sites.find((s) => s.trait === 'crawl-delay');
  assert.ok(site);
  const origin = `${site.scheme}://${site.hosts[0]}`;
  const visits = [
    seen(`${origin}/robots.txt`, 0),
    seen(`${origin}/`, 60),
    seen(`${origin}/x`, 299),
    seen(`${origin}/y`, 599),
  ];
  assert.deepEqual(
    report(visits, 100).tooEarly.map((gap) => [gap.gapMs, gap.leastMs]),
    [[299, 300]],
  );
  assert.deepEqual(reportOn(world, visits, { delayMs: 100, delayOf: () => 400 }).tooEarly.length, 2);
});

test('visits that overlap are found, also when a third lies between', () => {
  const [a, b, c] = ['/', '/x', '/y'].map((path) => HUB + path) as [string, string, string];
  const requests = [seen(a, 0, { endedAt: 5_000 }), seen(b, 2_000), seen(c, 4_000), seen(a, 6_000)];
  assert.deepEqual(
    report(requests).overlaps.map((gap) => gap.path),
    [b, c],
  );
  assert.equal(report([seen(a, 0, { endedAt: Infinity }), seen(b, 9_000)]).overlaps.length, 1);
});

test('a forbidden page, and any page behind a robots.txt that fails, is found', () => {
  const [denied] = forbidden;
  const behind = world.sites.find((site) => site.trait === 'robots-500');
  assert.ok(denied && behind);
  const found = report([...goodCrawl(), seen(denied, LATE), seen(`${behind.scheme}://${behind.hosts[0]}/`, LATE)]);
  assert.deepEqual(
    found.forbidden.map((s) => s.path),
    [new URL(denied).pathname, '/'],
  );
});

test('a page answered twice is found, a failing page asked for again is none', () => {
  const [broken] = [...failing].filter((url) => pages.has(`${new URL(url).origin}/`));
  assert.ok(broken);
  const again = [seen(page, LATE), seen(broken, LATE + 1e6), seen(broken, LATE + 2e6)];
  assert.deepEqual(faults(report([...goodCrawl(), ...again])), { ...NONE, twice: 1 });
  assert.deepEqual(faults(report([...goodCrawl(), seen(page, LATE, { whole: false })])), NONE);
});

test('a page that was never answered is found', () => {
  const without = goodCrawl().filter((s) => `${s.scheme}://${s.host}${s.path}` !== page);
  assert.deepEqual(report(without).missing, [page]);
});

test('a request that no right crawl makes is found', () => {
  const decoy = `${HUB}/never/linked`;
  assert.deepEqual(report([...goodCrawl(), seen(decoy, LATE)]).unexpected, [decoy]);
});

test('a page asked for before the robots.txt of its origin is found', () => {
  const origin = new URL(page).origin;
  const found = report([seen(page, 0), seen(`${origin}/robots.txt`, 2_000), seen(page, 2_050)]);
  assert.deepEqual(
    found.beforeRobots.map((s) => s.at),
    [0],
  );
});
