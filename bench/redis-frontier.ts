/**
 * What a waiting URL costs in Redis with the waiting links in it and in files: admits millions, and reads how much
 * memory the queues have.
 */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ask, link, settlementOf } from '../tests/contract/store-scene.ts';
import { createMember, filesFolderOf, openMember, removeMember } from '../tests/support/redis-scene.ts';
import { startRedis } from '../tests/support/redis-server.ts';
import { openMemoryArchive } from '../tests/support/memory-archive.ts';
import type { Link } from '../src/model/link.ts';
import type { FrontierPlace } from '../src/model/settings.ts';
import { shardOf } from '../src/url/shard.ts';

/** Arguments: links, sites, one of the ways. */
const [LINKS = 5_000_000, SITES = 100_000] = process.argv.slice(2, 4).map(Number);
const WAYS = (process.argv[4] ? [process.argv[4]] : ['store', 'files']) as readonly FrontierPlace[];
/** A page brings some links to its own site, and single ones to others: so many references as a real crawl has. */
const OWN_LINKS = 7;
const OTHER_LINKS = 3;
const PAGES_PER_BATCH = 200;
const VISITS = Math.min(20_000, SITES / 2);

let state = 1;
const below = (limit: number): number => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
};

const siteAt = (n: number): string => `site-${n}.example`;

const batchFrom = (from: number): Link[] =>
  Array.from({ length: PAGES_PER_BATCH }, (_, page) => {
    const own = siteAt(below(SITES));
    const via = `https://${own}/articles/2024/${from + page}.html`;
    return Array.from({ length: OWN_LINKS + OTHER_LINKS }, (__, n) =>
      link(`${n < OWN_LINKS ? own : siteAt(below(SITES))}/articles/some-longer-title/${from + page}-${n}.html`, {
        via,
        depth: 3,
      }),
    );
  }).flat();

const measure = async (frontier: FrontierPlace): Promise<void> => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const folder = createMember('frontier');
  const store = await openMember(folder, { url: server.url, archive: openMemoryArchive(), frontier });
  const usedBytes = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
  /** Merging goes on for a while. */
  const settled = async (): Promise<number> => {
    for (let before = await usedBytes(); ; ) {
      await sleep(3_000);
      const now = await usedBytes();
      if (Math.abs(now - before) < before / 1_000) return now;
      before = now;
    }
  };
  try {
    for (const target of [LINKS / 5, LINKS]) {
      state = target;
      const began = performance.now();
      let admitted = 0;
      for (let page = target; (await store.census()).waiting < target; page += 10 * PAGES_PER_BATCH) {
        for (let n = 0; n < 10; n++)
          admitted += (await store.admit(batchFrom(page * 100 + n * PAGES_PER_BATCH))).admitted;
      }
      const rate = admitted / ((performance.now() - began) / 1_000);
      const used = await settled();
      const { waiting } = await store.census();
      const dir = filesFolderOf(folder);
      const onDisk =
        frontier === 'files' ? readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0) : 0;
      console.log(
        `${frontier}: ${waiting} waiting, used_memory ${(used / 1024 ** 2).toFixed(0)} MiB, ${Math.round(rate)} admitted/s, files ${(onDisk / 1024 ** 2).toFixed(0)} MiB`,
      );
    }
    let [visits, tookMs] = [0, 0];
    while (visits < VISITS) {
      const begun = performance.now();
      const claimed = await store.claim(ask({ delayMs: 3_600_000, visits: 200 }));
      tookMs += performance.now() - begun;
      visits += claimed.visits.length;
      await store.settle(
        claimed.visits.map((visit) =>
          settlementOf(visit, { fate: 'returned', pace: { ...visit.pace, dueAt: visit.claimedAt + 3_600_000 } }),
        ),
      );
    }
    const { waiting } = await store.census();
    const before = await settled();
    for (let from = 0; from < SITES; from += 1_000) {
      const pipeline = redis.pipeline();
      for (let n = from; n < from + 1_000; n++) pipeline.del(`{frontier:${shardOf(siteAt(n))}}:queue:${siteAt(n)}`);
      await pipeline.exec();
    }
    const queues = before - (await settled());
    console.log(
      `${frontier}: the queues are ${(queues / 1024 ** 2).toFixed(1)} MiB of it, ${(queues / waiting).toFixed(1)} bytes per waiting URL; a claimed visit takes ${Math.round((1_000 * tookMs) / visits)} us`,
    );
  } finally {
    await store.close();
    redis.disconnect();
    await server.remove();
    removeMember(folder);
  }
};

for (const frontier of WAYS) await measure(frontier);
