/**
 * What a page costs a Redis server: a young, broad crawl without a web, by the server's own count.
 *
 * `node bench/redis-cost.ts [pages] [visits at once]`. Pages bring 23 links that nobody has seen: 13 to their own site,
 * 7 to known ones, 3 to new ones. Then what an idle member asks, and the memory of sites alone.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Link } from '../src/model/link.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { Visit } from '../src/model/visit.ts';
import { ask, link, paceAfter, recordsOf, settlementOf } from '../tests/contract/store-scene.ts';
import { openMemoryArchive } from '../tests/support/memory-archive.ts';
import { createMember, openMember, removeMember } from '../tests/support/redis-scene.ts';
import { startRedis } from '../tests/support/redis-server.ts';

const [PAGES = 5_000, AT_ONCE = 100] = process.argv.slice(2).map(Number);
const [OWN_LINKS, OTHER_LINKS, NEW_SITES] = [13, 7, 3];
/** A visit takes about so long, so that what is under way is spread as it is in a crawl. */
const VISIT_MS = 50;
const IDLE_MS = 4_000;
const SITES_ALONE = 100_000;

let state = 1;
const below = (limit: number): number => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
};
let [sites, next] = [500, 0];
const siteAt = (n: number): string => `site-${n}.example`;
const to = (site: string, via: string): Link =>
  link(`${site}/articles/some-longer-title/${next++}.html`, { via, depth: 3 });
const linksOn = ({ site, link: { url } }: Visit): Link[] => [
  ...Array.from({ length: OWN_LINKS }, () => to(site, url)),
  ...Array.from({ length: OTHER_LINKS }, () => to(siteAt(below(sites)), url)),
  ...Array.from({ length: NEW_SITES }, () => to(siteAt(sites++), url)),
];

const server = await startRedis();
const redis = new Redis(server.url);
interface Figures {
  readonly cpuMs: number;
  readonly calls: ReadonlyMap<string, number>;
  readonly bytes: number;
}
const figures = async (): Promise<Figures> => {
  const info = await redis.info('everything');
  const number = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)![1]);
  const calls = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, n]) => [name!, Number(n)] as const);
  return {
    cpuMs: 1_000 * (number('used_cpu_user') + number('used_cpu_sys')),
    calls: new Map(calls),
    bytes: number('used_memory'),
  };
};
const report = (title: string, before: Figures, after: Figures, count: number): void => {
  const calls = [...after.calls]
    .map(([name, n]) => [name, (n - (before.calls.get(name) ?? 0)) / count] as const)
    .filter(([, n]) => n >= 0.05)
    .sort(([, a], [, b]) => b - a);
  const sum = calls.reduce((all, [, n]) => all + n, 0);
  console.log(
    `${title}: ${((after.cpuMs - before.cpuMs) / count).toFixed(3)} ms of the server, ${sum.toFixed(1)} calls`,
  );
  console.log(`  ${calls.map(([name, n]) => `${name} ${n.toFixed(2)}`).join(', ')}`);
};

const folder = createMember('cost');
const store = await openMember(folder, { url: server.url, archive: openMemoryArchive() });
for (let site = 0; site < sites; site += 100)
  await store.admit(Array.from({ length: 100 }, (_, i) => to(siteAt(site + i), '')));

const ended: Settlement[] = [];
let underWay = 0;
let settling: Promise<unknown> | null = null;
const settleAll = async (): Promise<void> => {
  while (ended.length > 0) await store.settle(ended.splice(0));
  settling = null;
};
const visit = async (one: Visit): Promise<void> => {
  await sleep(below(2 * VISIT_MS));
  await store.admit(linksOn(one));
  const pace = paceAfter(one, { dueAt: one.claimedAt, delayMs: 0 });
  ended.push(settlementOf(one, { pace, records: recordsOf(one.link.url) }));
  await (settling ??= settleAll());
  underWay--;
};

const before = await figures();
const cpuBefore = process.cpuUsage();
const begun = performance.now();
let visited = 0;
while (visited < PAGES) {
  const { visits } = await store.claim(ask({ visits: AT_ONCE - underWay, delayMs: 0, leaseMs: 240_000 }));
  visited += visits.length;
  underWay += visits.length;
  for (const one of visits) void visit(one);
  await sleep(10);
}
while (underWay > 0) await sleep(10);
const { user, system } = process.cpuUsage(cpuBefore);
console.log(
  `${visited} pages, ${sites} sites, ${(visited / ((performance.now() - begun) / 1_000)).toFixed(0)} pages/s`,
);
report('a page', before, await figures(), visited);
console.log(`  ${((user + system) / 1_000 / visited).toFixed(3)} ms of this process`);

/** A member of a crawl in which nothing is due, as two fetch threads ask. */
const quiet = createMember('quiet');
const idler = await openMember(quiet, { url: server.url, archive: openMemoryArchive() });
await idler.claim(ask());
await idler.beat();
const idle = await figures();
for (let ms = 0; ms < IDLE_MS; ms += 250) {
  for (const shards of [0, 1].map((part) => Array.from({ length: 32 }, (_, i) => 2 * i + part)))
    await idler.claim(ask({ visits: 10, shards }));
  if (ms % 1_000 === 0) await idler.beat();
  await sleep(250);
}
report('a second of an idle member', idle, await figures(), IDLE_MS / 1_000);
await idler.close();
removeMember(quiet);
const censusBefore = await figures();
for (let i = 0; i < 20; i++) await store.census();
report('a census', censusBefore, await figures(), 20);

const alone = await figures();
const via = 'https://some.example/page.html';
for (let site = 0; site < SITES_ALONE; site += 1_000)
  await store.admit(Array.from({ length: 1_000 }, (_, i) => link(`alone-${site + i}.example/`, { via })));
const bytes = (await figures()).bytes - alone.bytes;
console.log(`a site with one waiting link: ${(bytes / SITES_ALONE).toFixed(0)} bytes of Redis memory`);

await store.close();
removeMember(folder);
redis.disconnect();
await server.remove();
