/** A crawl in Redis, opened to look at it: its notes, and what people read of it. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/frontier/store.ts';
import { openRedisCrawl } from '../src/store/redis/crawl.ts';
import { openRows } from '../src/store/redis/rows.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';
import { leasedVisits, sitesOf } from './contract/store-model.ts';
import { ask, claimOne, link, linksOf, pageOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { allOf, checkReader } from './support/reader-check.ts';
import { createMember, openMember, pagesOf, removeMember, rowsPathOf } from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisCluster, type RedisServer } from './support/redis-server.ts';
import { freshName, rowsOf, takeSteps, withCrawl, withWalk } from './support/redis-walk.ts';

let server: RedisServer;
let cluster: RedisCluster;
let redis: Redis;
before(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await Promise.all([server.remove(), cluster.remove()]);
});

const isFault =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && words.test(error.message);

test('redis: a crawl that is not there has no note, and looking for one makes nothing', async () => {
  const name = freshName();
  await withCrawl({ url: server.url, name }, async (crawl) => {
    assert.equal(await crawl.note('identity'), null);
    await assert.rejects(async () => crawl.reader('/nowhere/rows.db').census(), isFault(/has no crawl/));
    await assert.rejects(async () => crawl.reader('/nowhere/rows.db').site('x.example'), isFault(/has no crawl/));
  });
  assert.deepEqual(await redis.keys(`{${name}*`), []);
});

test('redis: of processes that write a note at once the first wins, and all are told what it wrote', async () => {
  const name = freshName();
  const crawls = await Promise.all(
    Array.from({ length: 4 }, () => openRedisCrawl({ url: server.url, crawl: name, shards: SHARDS, say: () => {} })),
  );
  const told = await Promise.all(crawls.map((crawl, i) => crawl.keepNote('identity', `by ${i}`)));
  const [kept, none] = [await crawls[3]!.note('identity'), await crawls[0]!.note('seeds.txt')];
  for (const crawl of crawls) await crawl.close();
  assert.equal(new Set(told).size, 1);
  assert.match(told[0]!, /^by [0-3]$/);
  assert.deepEqual([kept, none], [told[0], null]);
  const folder = createMember(name);
  // the crawl was made with the shards of the place
  const store = await openMember(folder, { url: server.url, archive: openMemoryArchive() });
  await store.close();
  removeMember(folder);
  await withCrawl(
    { url: server.url, name },
    async (crawl) => {
      assert.equal(await crawl.keepNote('seeds.txt', 'ü\n'), 'ü\n', 'another number of shards is no error');
      assert.equal(await crawl.note('identity'), told[0]);
      assert.equal((await crawl.reader('/nowhere/rows.db').census()).waiting, 0);
    },
    7,
  );
});

test('redis: a crawl that a newer program made is refused, and changed by nobody', async () => {
  const name = freshName();
  await withCrawl({ url: server.url, name }, async (crawl) => void (await crawl.keepNote('identity', '1')));
  await withCrawl({ url: server.url, name }, async (crawl) => {
    await redis.hset(`{${name}}:meta`, 'layout', '99');
    await assert.rejects(crawl.keepNote('other', '2'), isFault(/layout 99/));
    assert.equal(await crawl.note('other'), null);
    await assert.rejects(
      openRedisCrawl({ url: server.url, crawl: name, shards: SHARDS, say: () => {} }),
      isFault(/layout 99/),
    );
  });
});

for (const [kind, url] of [
  ['redis', () => server.url],
  ['redis cluster', () => cluster.url],
] as const) {
  test(`${kind}: what a reader says of sites, links, pages and rules is what the verbs did`, async () => {
    await withWalk(url(), ['a'], async (walk) => {
      await takeSteps(walk);
      assert.ok(leasedVisits(walk.model).length > 0 && sitesOf(walk.model).some(({ state }) => state !== 'open'));
      await withCrawl(walk, async (crawl) => {
        const reader = crawl.reader(rowsPathOf(walk.members[0]!.folder));
        await checkReader(reader, walk.model);
        await reader.close();
      });
    });
  });
}

test('redis: a link that another member settled is settled, though its page is not at hand', async () => {
  await withWalk(server.url, ['a', 'b'], async (walk) => {
    await takeSteps(walk);
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader(rowsOf(walk.members[0]!).rowsPath);
      const [mine, theirs] = walk.members.map(({ folder }) => pagesOf(folder));
      assert.ok(mine!.length > 0 && theirs!.length > 0);
      assert.deepEqual(await allOf(reader.pages({})), mine);
      for (const page of mine!) assert.deepEqual((await reader.link(page.url, page.site)).page, page);
      for (const { url, site } of theirs!) {
        const view = await reader.link(url, site);
        assert.deepEqual([view.state, view.page, view.open, view.site?.site], ['settled', null, null, site]);
        assert.equal(await reader.page(url, site), null);
      }
      await reader.close();
    });
  });
});

test('redis: a page whose row is written, but that is not settled yet, is leased', async () => {
  await withWalk(server.url, ['a'], async ({ url, name, members: [member] }) => {
    const { store, folder } = member!;
    await store.admit(linksOf('x.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit)]);
    await redis.hset(
      `{${name}:${shardOf('x.example')}}:leased`,
      'x.example',
      `77 - 0 0 0 1 ${visit.link.url}\n\na/fetch-1`,
    );
    await withCrawl({ url, name }, async (crawl) => {
      const reader = crawl.reader(rowsPathOf(folder));
      assert.deepEqual(
        [(await reader.link(visit.link.url, 'x.example')).state, (await reader.site('x.example'))?.leased],
        ['leased', visit.link.url],
      );
      await reader.close();
    });
  });
});

test('redis: a link that was taken from the head of its line and waits again at its end is found there', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store } = walk.members[0]!;
    await store.admit(linksOf('x.example', 3));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { fate: 'retry' })]);
    await withCrawl(walk, async (crawl) => {
      const view = await crawl.reader('/nowhere/rows.db').link(visit.link.url, 'x.example');
      assert.deepEqual([view.state, view.open?.ahead, view.open?.tries, view.lookedAt], ['waiting', 2, 1, 3]);
    });
  });
});

test('redis: a line that is longer than one step can look at is looked at to its end', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store } = walk.members[0]!;
    // A page of its own for each makes a block of each.
    const links = Array.from({ length: 10_100 }, (_, i) => link(`x.example/${i}`, { via: `https://v.example/${i}` }));
    await store.admit(links);
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader('/nowhere/rows.db');
      for (const i of [0, 4_999, 5_000, 10_099]) {
        const view = await reader.link(links[i]!.url, 'x.example');
        assert.deepEqual(
          [view.state, view.open?.link, view.open?.ahead, view.lookedAt],
          ['waiting', links[i], i, i + 1],
        );
      }
      const none = await reader.link('https://x.example/none', 'x.example');
      assert.deepEqual([none.state, none.lookedAt], ['unknown', 10_100]);
    });
  });
});

test('redis: sites come about as they were found, and reading goes on in between', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store } = walk.members[0]!;
    const names = Array.from({ length: 3_000 }, (_, i) => `s${(i * 7) % 3_000}.example`);
    await store.admit(names.slice(0, 1_500).map((name) => link(`${name}/`)));
    await store.admit(names.slice(1_500).map((name) => link(`${name}/`)));
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader('/nowhere/rows.db');
      const seen: string[] = [];
      for await (const { site } of reader.sites({})) {
        if (seen.push(site) % 700 === 0) assert.deepEqual(await reader.robots([`https://${site}`]), [null]);
      }
      assert.equal(seen.length, 3_000);
      assert.deepEqual(new Set(seen), new Set(names));
      const early = new Set(names.slice(0, 1_500));
      assert.ok(
        seen.slice(0, 600).every((name) => early.has(name)),
        'those of the first batch come before those of the second',
      );
      assert.deepEqual(
        (await allOf(reader.sites({ sort: 'name', limit: 3 }))).map(({ site }) => site),
        names.toSorted().slice(0, 3),
      );
    });
  });
});

test('redis: pages that come while a reader follows are each given once, and the rows may not be there at first', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store, folder } = walk.members[0]!;
    await store.admit(Array.from({ length: 230 }, (_, i) => link(`s${i}.example/`)));
    await withCrawl(walk, async (crawl) => {
      const early = crawl.reader('/nowhere/rows.db');
      assert.deepEqual(
        [await early.lastRow(), await early.pagesAfter(0, {}), await allOf(early.pages({}))],
        [0, { pages: [], row: 0 }, []],
      );
      const reader = crawl.reader(rowsPathOf(folder));
      assert.deepEqual([await reader.lastRow(), await reader.pagesAfter(0, {})], [0, { pages: [], row: 0 }]);
      const urls: string[] = [];
      let row = 0;
      for (let round = 0; round < 3; round++) {
        const { visits } = await store.claim(ask({ visits: 77 }));
        await store.settle(visits.map((visit) => settlementOf(visit)));
        for (
          let slice = await reader.pagesAfter(row, {});
          slice.row !== row;
          slice = await reader.pagesAfter(row, {})
        ) {
          urls.push(...slice.pages.map((page) => page.url));
          row = slice.row;
        }
      }
      assert.equal(urls.length, 230);
      assert.deepEqual(
        urls,
        pagesOf(folder).map((page) => page.url),
      );
      assert.equal(await reader.lastRow(), row);
      assert.deepEqual(await reader.pagesAfter(100, { outcome: 'robots-denied' }), { pages: [], row });
      assert.equal((await reader.pagesAfter(0, { limit: 7 })).row, 7);
      await reader.close();
    });
  });
});

test('redis: numbers of rows that were taken back are not given again, so that who follows misses no page', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store, folder } = walk.members[0]!;
    await store.admit([link('x.example/'), link('y.example/')]);
    const [x, y] = (await store.claim(ask())).visits;
    await store.settle([settlementOf(x!)]);
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader(rowsPathOf(folder));
      const { row } = await reader.pagesAfter(0, {});
      const rows = openRows(rowsPathOf(folder));
      const batch = rows.last()!;
      rows.reduce({ ...batch, parts: [] }, batch.parts); // as when its lease had run out
      rows.close();
      await store.settle([settlementOf(y!)]);
      assert.deepEqual(
        (await reader.pagesAfter(row, {})).pages.map(({ url }) => url),
        [y!.link.url],
      );
      await reader.close();
    });
  });
});

test('redis: a page is read back as it was settled, with its place', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store, archive, folder } = walk.members[0]!;
    await store.admit([link('x.example/a?b="c"', { via: 'https://y.example/{}' })]);
    const visit = await claimOne(store);
    const page = pageOf(visit, {
      title: '{"},\\ ü\n\t',
      status: null,
      redirect: 'https://z.example/',
      noindex: true,
      bytes: 2 ** 40,
    });
    await store.settle([settlementOf(visit, { page, records: recordsOf('text', 'robots;') })]);
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader(rowsPathOf(folder));
      const { place, ...read } = (await reader.page(visit.link.url, 'x.example'))!;
      assert.deepEqual(read, page);
      assert.match(new TextDecoder().decode(archive.read(place!)), /^response text/);
      assert.deepEqual((await reader.census()).archive, archive.end());
      await reader.close();
    });
  });
});
