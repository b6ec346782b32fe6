/** The webs that benchmarks crawl have the shape of real pages, as parse5 counts it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { benchPlan } from '../src/world/presets.ts';
import { SHAPES, type ShapeName, type Spread } from '../src/world/shape.ts';
import type { Site } from '../src/world/sites.ts';
import { createWorld, type World } from '../src/world/world.ts';
import { countPage, type PageCounts } from './support/page-counts.ts';

/** Sizes have a long tail: with fewer, the mean of a sample is far from that of all. The same pages every time. */
const SAMPLE = 1_000;
const STRIDE = 37;
const WITHIN = 0.12;

const sampled = (world: World): Site[] =>
  Array.from({ length: SAMPLE }, (_, n) => world.sites[(n * STRIDE) % world.sites.length] as Site);
const frontPage = (world: World, { hosts, scheme }: Site): Buffer =>
  Buffer.from(world.responseTo({ scheme, host: hosts[0] as string, path: '/' }).body);
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;

const isNear = (found: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(found - wanted) <= WITHIN * wanted, `${what}: ${Math.round(found)}, wanted ${Math.round(wanted)}`);

for (const name of Object.keys(SHAPES) as ShapeName[]) {
  test(`pages of the shape "${name}" have the size, text, tags, attributes and links that it says`, () => {
    const world = createWorld(benchPlan(name));
    const counts = sampled(world).map((site) => countPage(frontPage(world, site).toString('latin1')));
    const of = (key: keyof PageCounts): number[] => counts.map((one) => one[key]);
    for (const key of ['bytes', 'textBytes', 'tags', 'attributes', 'links'] as const) {
      const wanted: Spread = SHAPES[name][key];
      isNear(mean(of(key)), wanted.mean, `mean of ${key}`);
      isNear(median(of(key)), wanted.median, `median of ${key}`);
    }
    const share = mean(of('scriptBytes')) / mean(of('bytes'));
    assert.ok(Math.abs(share - SHAPES[name].scriptShare) < 0.03, `scripts and styles are ${share} of the bytes`);
  });
}

test('a packed page is the plain one, and packs as real pages do', () => {
  const plain = createWorld(benchPlan('real'));
  const packed = createWorld(benchPlan('real', { gzip: true }));
  const sizes = sampled(plain).map((site, n) => {
    const body = frontPage(packed, site);
    if (n < 100) assert.ok(gunzipSync(body).equals(frontPage(plain, site)), site.name);
    return body.length;
  });
  // 29 KB and 21 KB on the pages that the shape was counted on.
  isNear(mean(sizes), 29_000, 'mean');
  isNear(median(sizes), 21_000, 'median');
});

test('four of five sites have a robots.txt, which forbids some of what pages link to', () => {
  const world = createWorld(benchPlan('real'));
  const statuses = world.sites.map(({ hosts }) => world.policy(hosts[0] as string)?.status);
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 404]);
  isNear(statuses.filter((status) => status === 200).length, 0.8 * world.sites.length, 'sites with a robots.txt');
  const forbidden = sampled(world).flatMap((one) =>
    world.look({ scheme: 'http', host: one.hosts[0]!, path: '/' }).links.filter(({ to }) => !world.allows(new URL(to))),
  );
  assert.ok(forbidden.length > SAMPLE / 4, `${forbidden.length} links to what robots.txt forbids`);
});

test('a page brings 25 new links and more, also when a crawl has seen many', () => {
  for (const name of Object.keys(SHAPES) as ShapeName[]) {
    const world = createWorld(benchPlan(name));
    const seen = new Set<string>();
    let before = 0;
    for (const [n, site] of sampled(world).entries()) {
      if (n === SAMPLE - 200) before = seen.size;
      for (const { to } of world.look({ scheme: 'http', host: site.hosts[0] as string, path: '/' }).links) seen.add(to);
    }
    assert.ok((seen.size - before) / 200 >= 25, `${name}: ${(seen.size - before) / 200} of the last 200 pages each`);
  }
});

test('the plan says how many pages there are, a few sites are hot, and none is over its ceiling', () => {
  const plan = benchPlan('real');
  const sizes = createWorld(plan)
    .sites.map((site) => site.pages)
    .toSorted((a, b) => b - a);
  assert.equal(
    sizes.reduce((sum, n) => sum + n, 0),
    plan.pages,
  );
  assert.ok((sizes[0] as number) <= plan.sitePagesMax);
  const hottest = sizes.slice(0, sizes.length / 100).reduce((sum, n) => sum + n, 0);
  assert.ok(hottest > plan.pages / 10, `the hottest hundredth has ${hottest} pages`);
  assert.ok((sizes[sizes.length / 2] as number) < plan.pages / sizes.length);
});

test('every page of a site can be reached from its front page', () => {
  const world = createWorld({ ...benchPlan('text', { sites: 40 }), pages: 400 });
  const { pages } = world.reachable();
  assert.equal([...pages].filter((url) => !url.includes('/private/')).length, 400);
});
