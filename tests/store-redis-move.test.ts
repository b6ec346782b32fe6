/** A crawl in Redis on its way to another place: in pieces out of one, and into another, with nothing changed. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/frontier/store.ts';
import type { Census } from '../src/model/census.ts';
import type { Visit } from '../src/model/visit.ts';
import type { MemberRows, Piece, SharedCrawl } from '../src/store/shared-crawl.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { allOf } from './support/reader-check.ts';
import { openGate } from './support/redis-gate.ts';
import {
  createMember,
  openMember,
  pagesOf,
  removeMember,
  rowsPathOf,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisCluster, type RedisServer } from './support/redis-server.ts';
import { freshName, rest, rowsOf, takeSteps, withCrawl, withWalk, type Walk } from './support/redis-walk.ts';

let server: RedisServer;
let cluster: RedisCluster;
before(async () => void ([server, cluster] = await Promise.all([startRedis(), startRedisCluster()])));
after(() => Promise.all([server.remove(), cluster.remove()]));

const isFault =
  (words: RegExp, advice = /./) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && words.test(error.message) && advice.test(error.advice);

interface Target {
  readonly url: string;
  readonly name: string;
  readonly folder: MemberFolder;
  readonly rows: MemberRows;
}

const withTarget = async (url: string, work: (target: Target) => Promise<void>): Promise<void> => {
  const folder = createMember(freshName(), 'a');
  try {
    await work({ url, name: folder.crawl, folder, rows: { member: 'a', rowsPath: rowsPathOf(folder) } });
  } finally {
    removeMember(folder);
  }
};

const piecesOf = (from: Pick<Walk, 'url' | 'name'>, rows: MemberRows): Promise<Piece[]> =>
  withCrawl(from, (crawl) => allOf(crawl.pieces(rows)));

const fill = async (crawl: SharedCrawl, pieces: readonly Piece[], rows: MemberRows): Promise<void> => {
  await crawl.beginMove();
  for (let at = 0; at < pieces.length; at += 7) await crawl.take(pieces.slice(at, at + 7), rows);
  await crawl.endMove(rows);
};

const censusOf = (from: Pick<Walk, 'url' | 'name'>, { rowsPath }: MemberRows): Promise<Census> =>
  withCrawl(from, async (crawl) => {
    const reader = crawl.reader(rowsPath);
    try {
      return await reader.census();
    } finally {
      await reader.close();
    }
  });

/**
 * The pieces of a line may be cut elsewhere; sites and rules come in another order where there is another number of
 * shards, or another hash table.
 */
const whole = (pieces: readonly Piece[]): unknown => {
  const sites = new Map<string, { site: unknown; links: unknown[] }>();
  const rules: string[] = [];
  const pages: unknown[] = [];
  let tally: unknown = null;
  for (const piece of pieces) {
    if (piece.kind === 'site') sites.set(piece.site, { site: piece, links: [] });
    else if (piece.kind === 'line') sites.get(piece.site)!.links.push(...piece.links);
    else if (piece.kind === 'robots')
      rules.push(...piece.records.map((record) => JSON.stringify([piece.site, record])));
    else if (piece.kind === 'pages') pages.push(...piece.pages);
    else tally = piece;
  }
  return { sites: new Map([...sites].toSorted(([a], [b]) => (a < b ? -1 : 1))), rules: new Set(rules), pages, tally };
};

for (const [kind, urls, shards] of [
  ['redis', () => [server.url, server.url], SHARDS],
  ['redis', () => [server.url, server.url], 7],
  ['redis cluster', () => [server.url, cluster.url], SHARDS],
] as const) {
  test(`${kind}: a crawl moved to ${shards} shards is the same crawl, and goes on as it would have`, async () => {
    const [from, to] = urls();
    await withWalk(from!, ['a'], (walk) =>
      withTarget(to!, async (target) => {
        await takeSteps(walk, 400);
        await rest(walk);
        const rows = rowsOf(walk.members[0]!);
        await withCrawl(walk, async (crawl) => void (await crawl.keepNote('identity', '{"ü":1}')));
        const pieces = await piecesOf(walk, rows);
        await withCrawl(target, (crawl) => fill(crawl, pieces, target.rows), shards);

        const moved = await piecesOf(target, target.rows);
        assert.deepEqual(whole(moved), whole(pieces));
        if (shards === SHARDS)
          assert.deepEqual(
            moved.filter(({ kind: of }) => of === 'site' || of === 'line'),
            pieces.filter(({ kind: of }) => of === 'site' || of === 'line'),
          );
        const [before, now] = [await censusOf(walk, rows), await censusOf(target, target.rows)];
        assert.deepEqual({ ...now, now: 0, changes: 0 }, { ...before, now: 0, changes: 0 });
        assert.ok(now.changes > 0);
        await withCrawl(target, async (crawl) => {
          const { wrong, links, end } = await crawl.survey(target.rows, () => {});
          assert.deepEqual([wrong, links, end], [[], walk.model.seen.size, walk.members[0]!.archive.end()]);
          assert.equal(await crawl.note('identity'), '{"ü":1}');
        });
        await goOn(walk, target, shards);
      }),
    );
  });
}

/** Both crawls give the same visits, but for the numbers of their leases, and take the same settlements. */
const goOn = async (walk: Walk, target: Target, shards: number): Promise<void> => {
  const { archive } = walk.members[0]!;
  const one = walk.members[0]!.store;
  const other = await openMember(target.folder, { url: target.url, archive, clock: walk.clock, shards });
  const every = Array.from({ length: shards }, (_, shard) => shard);
  try {
    const bySite = (visits: readonly Visit[]): Visit[] =>
      visits.map((visit) => ({ ...visit, lease: 0 })).toSorted((a, b) => (a.site < b.site ? -1 : 1));
    for (let round = 0; round < 200; round++) {
      const [mine, theirs] = [
        (await one.claim(ask({ delayMs: 500 }))).visits,
        (await other.claim(ask({ delayMs: 500, shards: every }))).visits,
      ];
      assert.deepEqual(bySite(theirs), bySite(mine));
      await one.settle(mine.map((visit) => settlementOf(visit, { fate: round % 5 === 0 ? 'retry' : 'settled' })));
      await other.settle(theirs.map((visit) => settlementOf(visit, { fate: round % 5 === 0 ? 'retry' : 'settled' })));
      walk.clock.advance(10_000);
      if (round === 3)
        for (const store of [one, other])
          await store.steer([{ kind: 'retry-parked' }, { kind: 'release-held', sitePagesMax: null }]);
    }
    assert.equal(
      (
        await other.admit(
          [...walk.model.seen].map((url) => ({
            ...link('x.example/'),
            url: url as never,
            site: new URL(url).hostname,
          })),
        )
      ).admitted,
      0,
      'all are known',
    );
    const [left, right] = [await one.census(), await other.census()];
    assert.deepEqual([right.settled, right.waiting, right.leased], [left.settled, 0, 0]);
    assert.deepEqual(
      new Set(pagesOf(target.folder).map(({ url }) => url)),
      new Set(pagesOf(walk.members[0]!.folder).map(({ url }) => url)),
    );
  } finally {
    await other.close();
  }
};

test('redis: a line of which the first links are taken, and that takes several steps to read, comes whole', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store } = walk.members[0]!;
    // A page of its own for each makes a block of each.
    const far = Array.from({ length: 700 }, (_, i) => link(`x.example/far/${i}`, { via: `https://v.example/${i}` }));
    await store.admit([...linksOf('x.example', 20), ...far, ...linksOf('y.example', 3)]);
    await store.settle((await store.claim(ask())).visits.map((visit) => settlementOf(visit)));
    const pieces = await piecesOf(walk, rowsOf(walk.members[0]!));
    const linesOf = (of: string): string[] =>
      pieces.flatMap((piece) =>
        piece.kind === 'line' && piece.site === of ? piece.links.map((one) => one.link.url) : [],
      );
    assert.deepEqual(
      linesOf('x.example'),
      [...linksOf('x.example', 20).slice(1), ...far].map(({ url }) => url),
    );
    assert.deepEqual(
      linesOf('y.example'),
      linksOf('y.example', 3)
        .slice(1)
        .map(({ url }) => url),
    );
    assert.ok(
      pieces.every((piece) => piece.kind !== 'line' || piece.links.length <= 600),
      'in pieces of some hundred',
    );
    const { wrong, links } = await withCrawl(walk, (crawl) => crawl.survey(rowsOf(walk.members[0]!), () => {}));
    assert.deepEqual([wrong, links], [[], 723]);
  });
});

test('redis: a crawl at work, or with pages of other members, does not come in pieces', async () => {
  await withWalk(server.url, ['a', 'b'], async (walk) => {
    const [a, b] = walk.members;
    await b!.store.admit([...linksOf('x.example', 2), ...linksOf('y.example', 1)]);
    const visit = await claimOne(b!.store, { visits: 1 });
    await assert.rejects(
      piecesOf(walk, rowsOf(a!)),
      isFault(/1 link is leased: the crawl is at work, or was killed/, /resume and stop it/),
    );
    await b!.store.settle([settlementOf(visit)]);
    await assert.rejects(
      piecesOf(walk, rowsOf(a!)),
      isFault(/1 links are settled, but the rows of this directory have 0: the others lie with the member b/),
    );
    assert.equal((await piecesOf(walk, rowsOf(b!))).at(-1)?.kind, 'tally');
  });
});

test('redis: a line that cannot be read ends the move with the site it is of', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    await walk.members[0]!.store.admit(linksOf('x.example', 2));
    const redis = new Redis(server.url);
    const [line] = await redis.keys(`{${walk.name}:*:line:x.example`);
    await redis.lset(line!, 0, 'nonsense');
    redis.disconnect();
    await assert.rejects(
      piecesOf(walk, rowsOf(walk.members[0]!)),
      isFault(/the line of the site "x\.example" is broken/, /verify/),
    );
  });
});

const SITE: Piece = {
  kind: 'site',
  site: 'x.example',
  state: 'open',
  pages: 0,
  pace: { dueAt: 1, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 },
};
const TALLY: Piece = {
  kind: 'tally',
  forgotten: 0,
  archivedBytes: 0,
  archive: { file: '', bytes: 0 },
  marks: {},
  notes: {},
};
const lineOf = (...paths: readonly string[]): Piece => ({
  kind: 'line',
  site: 'x.example',
  links: paths.map((path) => ({ link: link(`x.example/${path}`), tries: 2 })),
});

test('redis: while a crawl is moved to a place nobody can work there, and a second try removes what the first left', async () => {
  for (const { url } of [server, cluster]) {
    await withTarget(url, async (target) => {
      const open = (): Promise<unknown> => openMember(target.folder, { url, archive: null as never });
      const moving = isFault(/^the crawl ".*" is being moved here$/, /^run `gossamer migrate` again$/);
      await withCrawl(target, async (crawl) => {
        await crawl.beginMove();
        await crawl.take(
          [SITE, lineOf('1', '2'), { ...TALLY, notes: { other: 'left' }, marks: { left: 1 } }],
          target.rows,
        );
      }); // ended here: killed
      await assert.rejects(open(), moving);
      await withCrawl(
        target,
        async (crawl) => {
          await assert.rejects(crawl.keepNote('identity', '1'), moving);
          assert.equal(await crawl.note('identity'), null);
          await crawl.beginMove();
          const begun = await crawl.reader('/nowhere/rows.db').census();
          assert.deepEqual([begun.waiting, begun.sites.known, begun.marks], [0, 0, {}]);
          await assert.rejects(crawl.keepNote('identity', '1'), moving);
          await crawl.take([SITE, lineOf('1'), TALLY], target.rows);
          await crawl.endMove(target.rows);
          const { wrong, links } = await crawl.survey(target.rows, () => {});
          assert.deepEqual([wrong, links, await crawl.note('other')], [[], 1, null]);
          assert.equal(await crawl.keepNote('identity', '1'), '1');
          await assert.rejects(crawl.beginMove(), isFault(/has a crawl ".*" already/));
          assert.equal(await crawl.note('identity'), '1');
        },
        5,
      );
    });
  }
});

test('redis: a whole crawl that is there is not touched by a move to its name', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    await takeSteps(walk, 40);
    const before = await censusOf(walk, rowsOf(walk.members[0]!));
    await withCrawl(walk, (crawl) => assert.rejects(crawl.beginMove(), isFault(/has a crawl ".*" already/)));
    assert.deepEqual(
      { ...(await censusOf(walk, rowsOf(walk.members[0]!))), now: 0, sitesDue: 0, next: null },
      { ...before, now: 0, sitesDue: 0, next: null },
    );
    assert.deepEqual((await withCrawl(walk, (crawl) => crawl.survey(rowsOf(walk.members[0]!), () => {}))).wrong, []);
  });
});

test('redis: a crawl next to it, whose name begins alike, stays when one is removed', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    await takeSteps(walk, 40);
    for (const name of [walk.name.replace(/\d+$/, ''), `${walk.name}-1`]) {
      const near = { url: walk.url, name };
      await withCrawl(near, (crawl) => crawl.beginMove());
      await withCrawl(near, (crawl) => crawl.beginMove());
    }
    assert.deepEqual((await withCrawl(walk, (crawl) => crawl.survey(rowsOf(walk.members[0]!), () => {}))).wrong, []);
  });
});

test('redis: of two moves to one place at once the one that was overtaken brings nothing more, and does not end well', async () => {
  await withTarget(server.url, async (target) => {
    await withCrawl(target, (first) =>
      withCrawl(target, async (second) => {
        const overtaken = isFault(/another process began to move a crawl/);
        await first.beginMove();
        await second.beginMove();
        await assert.rejects(first.take([SITE, lineOf('1')], target.rows), overtaken);
        await assert.rejects(first.take([{ ...TALLY, notes: { identity: 'of the first' } }], target.rows), overtaken);
        await assert.rejects(first.endMove({ ...target.rows, rowsPath: `${target.rows.rowsPath}-1` }), overtaken);
        await second.take([SITE, TALLY], target.rows);
        await second.endMove(target.rows);
        assert.deepEqual(
          [(await second.survey(target.rows, () => {})).wrong, await second.note('identity')],
          [[], null],
        );
      }),
    );
  });
});

test('redis: what comes without its site, or while Redis is gone, ends the move', async () => {
  await withTarget(server.url, async (target) => {
    await withCrawl(target, async (crawl) => {
      await assert.rejects(crawl.take([SITE], target.rows), isFault(/the move was not begun/));
      await crawl.beginMove();
      await assert.rejects(
        crawl.take([lineOf('1')], target.rows),
        isFault(/links of "x\.example" came, but not the site/),
      );
    });
    const gate = await openGate(server.port);
    try {
      await withCrawl({ url: gate.url, name: target.name }, async (crawl) => {
        await crawl.beginMove();
        const taken = crawl.take([SITE, lineOf('1')], target.rows);
        gate.cut();
        await assert.rejects(taken, isFault(/Redis at .* does not answer/, /run this again/));
      });
    } finally {
      await gate.close();
    }
    assert.ok(!existsSync(target.rows.rowsPath), 'no page came');
  });
});
