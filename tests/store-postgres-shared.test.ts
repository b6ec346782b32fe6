/** Processes that share a crawl in PostgreSQL: each a member with its own archive. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { StoreFault } from '../src/contract/fault.ts';
import { settledTotal } from '../src/model/census.ts';
import type { Visit } from '../src/model/visit.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { withScene, type Member } from './support/postgres-scene.ts';
import { foundIn, soundSurveyOf } from './contract/stored-scene.ts';
import { startPostgres } from './support/postgres-server.ts';

const server = await startPostgres();
after(() => server.remove());

const LEASE_MS = 60_000;

const STEPS = 300;
const SITES = 25;
const PATHS = 30;

test('postgres: two processes never have the same site at the same time, visit none too early, and settle every link once', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const members = [await member('a'), await member('b')];
    const leased = new Map<string, { visit: Visit; by: Member }>();
    const notBefore = new Map<string, number>();
    const known = new Set<string>();
    let admitted = 0;

    const admitBoth = async (): Promise<void> => {
      const links = Array.from({ length: 12 }, () =>
        link(`s${randomInt(SITES)}.example/${randomInt(PATHS)}`, { first: randomInt(8) === 0 }),
      );
      for (const { url: address } of links) known.add(address);
      const answers = await Promise.all([
        members[0]!.store.admit(links),
        members[1]!.store.admit(links.toReversed()),
        members[0]!.store.admit(links),
      ]);
      admitted += answers.reduce((sum, answer) => sum + answer.admitted, 0);
    };
    const claimBoth = async (): Promise<void> => {
      const claims = await Promise.all(
        [0, 1, 0, 1].map(async (i) => ({
          by: members[i]!,
          ...(await members[i]!.store.claim(ask({ visits: 4, leaseMs: LEASE_MS }))),
        })),
      );
      for (const { by, visits } of claims) {
        for (const visit of visits) {
          assert.ok(
            !leased.has(visit.site),
            `${visit.site} was given to ${by.name}, and ${leased.get(visit.site)?.by.name} has it`,
          );
          assert.ok(clock.now() >= (notBefore.get(visit.site) ?? 0), `${visit.site} is early`);
          leased.set(visit.site, { visit, by });
          notBefore.set(visit.site, clock.now() + DELAY_MS);
        }
      }
    };
    const settleBoth = async (share: number): Promise<void> => {
      await Promise.all(
        members.map(async (me) => {
          const mine = [...leased.values()].filter(({ by }) => by === me && randomInt(100) < share);
          for (const { visit } of mine) leased.delete(visit.site);
          const settlements = mine.map(({ visit }) =>
            settlementOf(visit, {
              fate: (['settled', 'settled', 'retry', 'returned'] as const)[randomInt(4)]!,
              records: recordsOf(`${visit.link.url} ${visit.lease}`),
            }),
          );
          assert.deepEqual(
            await me.store.settle(settlements),
            { settled: settlements.length, refused: 0 },
            'leases of the other are not touched',
          );
        }),
      );
    };
    const reopenOne = async (): Promise<void> => {
      const i = randomInt(2);
      const former = members[i]!;
      await former.store.close();
      members[i] = await member(former.name, former.archive);
      for (const [site, { by }] of leased) {
        if (by !== former) continue;
        leased.delete(site);
        notBefore.set(site, clock.now() + DELAY_MS);
      }
    };

    for (let step = 0; step < STEPS; step++) {
      const dice = randomInt(100);
      if (dice < 30) await Promise.all([admitBoth(), claimBoth()]);
      else if (dice < 50) await claimBoth();
      else if (dice < 80) await settleBoth(60);
      else if (dice < 97) clock.advance(randomInt(DELAY_MS));
      else await reopenOne();
    }
    for (let round = 0; round < 10_000 && (await members[0]!.store.census()).waiting > 0; round++) {
      clock.advance(DELAY_MS);
      await claimBoth();
      await settleBoth(100);
    }
    await settleBoth(100);

    assert.equal(admitted, known.size, 'each link was new to one call');
    const census = await members[1]!.store.census();
    assert.deepEqual([census.waiting, census.leased, settledTotal(census)], [0, 0, known.size]);
    for (const { name, archive } of members) {
      const found = await foundIn(await crawl({ member: name }), ['pages']);
      const pages = found.flatMap((one) => (one.kind === 'pages' ? one.pages : []));
      assert.deepEqual(pages.map(({ url }) => url as string).toSorted(), [...known].toSorted());
      for (const page of pages.filter((one) => one.mine && one.outcome !== 'gave-up'))
        assert.ok(
          new TextDecoder().decode(archive.read(page)).startsWith(`response ${page.url} `),
          'the record lies in the archive of the member that settled it',
        );
    }
  });
});

test('postgres: opening a member and freeing "all" touch the leases of that member only', async () => {
  await withScene(server, async ({ clock, member }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit([link('x.example/'), link('y.example/')]);
    const mine = await claimOne(a.store, { visits: 1, leaseMs: LEASE_MS });
    const other = await claimOne(b.store, { leaseMs: LEASE_MS });
    await b.store.steer([
      { kind: 'free', holder: null, counted: true },
      { kind: 'free', holder: 'fetch-1', counted: true },
    ]);
    await b.store.close();
    await member('b', b.archive);
    assert.deepEqual(await a.store.settle([settlementOf(mine), settlementOf(other)]), {
      settled: 1,
      refused: 1,
      refusedAt: [1],
    });
    clock.advance(DELAY_MS);
    assert.equal((await claimOne(a.store)).site, other.site);
  });
});

test('postgres: when a process dies, its sites go on in another after their lease', async () => {
  await withScene(server, async ({ clock, member }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit(linksOf('x.example', 2));
    const lost = await claimOne(a.store, { leaseMs: LEASE_MS });
    await a.store.close();
    clock.advance(LEASE_MS - 1);
    assert.deepEqual((await b.store.claim(ask({ leaseMs: LEASE_MS }))).visits, []);
    clock.advance(1 + DELAY_MS);
    const again = await claimOne(b.store, { leaseMs: LEASE_MS });
    assert.deepEqual([again.link.url, again.tries], [lost.link.url, 2]);
  });
});

test('postgres: the page limit is exact when processes claim at the same time', async () => {
  await withScene(server, async ({ member }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit(Array.from({ length: 60 }, (_, i) => link(`s${i}.example/`)));
    const claims = await Promise.all(
      [a, b, a, b, a, b].map(({ store }) => store.claim(ask({ visits: 10, pagesMax: 25 }))),
    );
    assert.equal(
      claims.reduce((sum, { visits }) => sum + visits.length, 0),
      25,
    );
  });
});

test('postgres: links that several processes bring at the same time, in any order, are taken once and none is lost', async () => {
  await withScene(server, async ({ member }) => {
    const stores = [await member('a'), await member('b'), await member('c')].map(({ store }) => store);
    const links = Array.from({ length: 400 }, (_, i) => link(`s${i % 20}.example/${i}`));
    const orders = [
      links,
      links.toReversed(),
      links.toSorted((x, y) => x.site.localeCompare(y.site)),
      links.toSorted((x, y) => y.url.localeCompare(x.url)),
    ];
    const answers = await Promise.all(
      orders.flatMap((some, i) => [stores[i % 3]!.admit(some), stores[(i + 1) % 3]!.admit(some, 1_000)]),
    );
    assert.equal(
      answers.reduce((sum, { admitted }) => sum + admitted, 0),
      links.length,
    );
    assert.ok(answers.every(({ admitted, seen }) => admitted + seen === links.length));
    assert.equal((await stores[0]!.census()).waiting, links.length);
  });
});

test('postgres: a queue is never longer than --max-waiting-per-site, also when processes fill it together', async () => {
  await withScene(server, async ({ member }) => {
    const stores = [await member('a'), await member('b')].map(({ store }) => store);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        stores[i % 2]!.admit(
          Array.from({ length: 10 }, (__, n) => link(`x.example/${i}-${n}`)),
          25,
        ),
      ),
    );
    assert.equal(
      answers.reduce((sum, { admitted }) => sum + admitted, 0),
      25,
    );
    const census = await stores[0]!.census();
    assert.deepEqual([census.waiting, census.forgotten], [25, 55]);
  });
});

test('postgres: a link that comes several times in one batch is taken, known or forgotten as if each came by itself', async () => {
  await withScene(server, async ({ member }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 2), 2);
    const [plain, first] = [link('x.example/3'), link('x.example/3', { first: true })];
    assert.deepEqual(await store.admit([plain, plain, first, plain, first], 2), {
      admitted: 1,
      seen: 2,
      forgotten: 2,
      full: ['x.example'],
    });
    const [other, otherFirst] = [link('x.example/4'), link('x.example/4', { first: true })];
    assert.deepEqual(await store.admit([other, otherFirst, other], 4), {
      admitted: 1,
      seen: 2,
      forgotten: 0,
      full: [],
    });
    assert.equal((await claimOne(store)).link.url, plain.url);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.forgotten], [3, 2]);
  });
});

test('postgres: what one process admits, another finds with its next beat, and without one after two seconds', async () => {
  await withScene(server, async ({ clock, member }) => {
    const [a, b] = [await member('a'), await member('b')];
    assert.deepEqual(await b.store.claim(ask()), { visits: [], nextDueAt: null, entry: 0, term: 0 });
    await a.store.admit([link('x.example/')]);
    await b.store.beat();
    assert.equal((await claimOne(b.store)).site, 'x.example');
    assert.deepEqual((await b.store.claim(ask())).visits, []);
    await a.store.admit([link('y.example/')]);
    clock.advance(2_000);
    assert.equal((await claimOne(b.store)).site, 'y.example');
  });
});

test('postgres: a process whose directory another one has opened since can change nothing', async () => {
  await withScene(server, async ({ clock, member }) => {
    const former = await member('a');
    await former.store.admit(linksOf('x.example', 2));
    const visit = await claimOne(former.store);
    const { store } = await member('a', former.archive);
    clock.advance(DELAY_MS);
    const before = await store.census();
    const superseded = (error: Error): boolean =>
      error instanceof StoreFault && /another process has opened this directory/.test(error.message);
    await assert.rejects(former.store.admit([link('y.example/')]), superseded);
    await assert.rejects(former.store.claim(ask()), superseded);
    await assert.rejects(former.store.settle([settlementOf(visit, { records: recordsOf('late') })]), superseded);
    await assert.rejects(former.store.steer([{ kind: 'retry-parked' }]), superseded);
    assert.deepEqual(await store.census(), before);
    assert.equal(former.archive.totalBytes(), 0, 'its record was cut again');
  });
});

test('postgres: orders that touch thousands of sites are many short transactions, and touch each site', async () => {
  await withScene(server, async ({ clock, member, crawl, query }) => {
    const { store } = await member('a');
    await store.admit(Array.from({ length: 1_700 }, (_, i) => link(`s${i}.example/`)));
    const { visits } = await store.claim(ask({ visits: 1_700 }));
    await store.settle(visits.map((visit) => settlementOf(visit, { fate: 'retry', parked: true })));
    const { parked } = await store.census();
    await store.steer([{ kind: 'mark', name: 'seeds', value: 1 }, { kind: 'retry-parked' }]);
    const { waiting, parked: left, sites, marks } = await store.census();
    assert.deepEqual([parked, waiting, left, sites.parked, marks.seeds], [1_700, 1_700, 0, 0, 1]);
    const written = await query(
      'SELECT count(DISTINCT xmin::text)::int AS n, max(state) AS state FROM gossamer_here.site',
    );
    assert.deepEqual(written, [{ n: 4, state: 0 }], 'so many transactions wrote their rows last');
    clock.advance(DELAY_MS);
    assert.equal((await store.claim(ask({ visits: 2_000 }))).visits.length, 1_700);
    await soundSurveyOf(await crawl());
  });
});
