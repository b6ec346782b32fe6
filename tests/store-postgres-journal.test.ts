/** The journal of a crawl in PostgreSQL, who takes part in it, and beats. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ask, claimOne, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { piecesOf } from './contract/stored-pieces.ts';
import { withScene } from './support/postgres-scene.ts';
import { startPostgres } from './support/postgres-server.ts';

const server = await startPostgres();
after(() => server.remove());

const entryOf = (id: string): { id: string; text: string } => ({ id, text: `{"kind":"${id}"}` });

test('postgres: entries are numbered without a gap whoever writes them, and one that is sent twice is written once', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const looks = [await crawl(), await crawl()];
    assert.deepEqual(await looks[0]!.journal(0), [], 'where there is no crawl there are no entries');
    assert.equal(await looks[0]!.write(entryOf('first')), 1, 'a first entry makes the crawl');
    const [a, b] = [await member('a'), await member('b')];
    await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => looks[i % 2]!.write(entryOf(`look-${i}`))),
      ...Array.from({ length: 20 }, (_, i) =>
        [a, b][i % 2]!.store.steer([{ kind: 'write', entry: entryOf(`member-${i >> 1}`) }]),
      ),
    ]);
    const all = await looks[0]!.journal(0);
    assert.deepEqual(
      all.map(({ number }) => number),
      Array.from({ length: 31 }, (_, i) => i + 1),
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 31);
    assert.equal(await looks[1]!.write(entryOf('first')), 1);
    assert.deepEqual(await b.store.journal(29), all.slice(29));
    assert.equal((await a.store.beat()).entry, 31);
  });
});

test('postgres: every claim and every beat tell the number of the last entry', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    assert.equal((await store.claim(ask())).entry, 0);
    await (await crawl()).write(entryOf('x'));
    await store.admit([link('a.example/')]);
    assert.equal((await store.claim(ask())).entry, 1);
    await store.steer([{ kind: 'write', entry: entryOf('y') }]);
    assert.deepEqual(await store.beat(), { entry: 2, term: 0 });
  });
});

test('postgres: a crawl that is moved takes all its entries along, however many', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    await store.steer(Array.from({ length: 1_200 }, (_, i) => ({ kind: 'write', entry: entryOf(`e${i}`) })));
    const there = await crawl({ crawl: 'there' });
    const filling = await there.fill();
    await filling.take(await piecesOf(await crawl()));
    await filling.end();
    assert.deepEqual((await there.journal(1_100)).map(({ id }) => id).slice(-1), ['e1199']);
    assert.equal((await there.journal(700)).length, 500);
  });
});

const ABOUT = { host: 'here', pid: 4121, dir: '/crawl', version: '0.2.0', startedAt: 1 };

test('postgres: members are listed as they came, with when they were heard, what they settled, and what they say of themselves', async () => {
  await withScene(server, async ({ clock, member, crawl, query }) => {
    const b = await member('b', undefined, { about: ABOUT });
    const a = await member('a');
    await a.store.admit(linksOf('x.example', 3));
    await b.store.settle([settlementOf(await claimOne(b.store), { fate: 'retry' })]);
    clock.advance(5_000);
    await b.store.settle([settlementOf(await claimOne(b.store))]);
    const enteredAt = clock.now() - 5_000;
    await b.store.beat();
    const look = await crawl();
    assert.deepEqual(await look.members(), [
      { member: 'b', seenAt: clock.now(), isLive: false, settled: 1, about: ABOUT },
      { member: 'a', seenAt: enteredAt, isLive: false, settled: 0, about: null },
    ]);
    // By the server's own time it is live.
    await query("UPDATE gossamer_here.member SET seen_at = extract(epoch FROM now()) * 1000 WHERE name = 'a'");
    assert.deepEqual(
      (await look.members()).map(({ isLive }) => isLive),
      [false, true],
    );
  });
});
