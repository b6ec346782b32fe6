/** The journal of a crawl that is looked at, written to from beside, or moved; and who took part in it. */

import assert from 'node:assert/strict';

import { wholeJournal } from './store-journal.ts';
import { linksOf } from './store-scene.ts';
import { fillWith, MOVED, piecesOf, SITE, TALLY } from './stored-pieces.ts';
import { countsOf, foundIn, type StoredBehaviour } from './stored-scene.ts';

const TEXT = '{"kind":"settings","who":"«ünï» 🕸","settings":{"delay":"5s"}}';

export const storedJournalContract = (it: StoredBehaviour): void => {
  it('who looks at a crawl reads its journal, and writes to it', async ({ store, look }) => {
    const crawl = await look();
    assert.deepEqual(await crawl.journal(0), []);
    assert.equal(await crawl.write({ id: 'one', text: TEXT }), 1);
    await store.steer([{ kind: 'write', entry: { id: 'two', text: '{}' } }]);
    assert.equal(await crawl.write({ id: 'three', text: '' }), 3);
    const journal = await store.journal(0);
    assert.deepEqual(
      journal.map(({ number, id, text }) => [number, id, text]),
      [
        [1, 'one', TEXT],
        [2, 'two', '{}'],
        [3, 'three', ''],
      ],
    );
    for (const { at } of journal) assert.ok(at > 0);
    assert.deepEqual(await crawl.journal(0), journal);
    assert.deepEqual(await (await look()).journal(2), journal.slice(2));
    assert.equal((await store.beat()).entry, 3);
  });

  it('an entry is written once: who sends it again is told its number', async ({ store, look }) => {
    const [one, two] = [await look(), await look()];
    assert.equal(await one.write({ id: 'a', text: 'first' }), 1);
    assert.equal(await two.write({ id: 'b', text: 'x' }), 2);
    assert.equal(await two.write({ id: 'a', text: 'second' }), 1);
    await store.steer([{ kind: 'write', entry: { id: 'b', text: 'third' } }]);
    assert.deepEqual(
      (await one.journal(0)).map(({ id, text }) => [id, text]),
      [
        ['a', 'first'],
        ['b', 'x'],
      ],
    );
  });

  it('of several who write at once each gets a number of its own, and none is left out', async ({ empty }) => {
    const place = await empty();
    const crawls = await Promise.all([place.look(), place.look(), place.look(), place.look()]);
    const told = await Promise.all(crawls.map((crawl, i) => crawl.write({ id: `by ${i % 3}`, text: String(i) })));
    assert.equal(told[0], told[3], 'they sent the same one');
    assert.deepEqual(told.slice(0, 3).toSorted(), [1, 2, 3]);
    const journal = await wholeJournal((after) => crawls[3]!.journal(after));
    assert.deepEqual(
      journal.map(({ number, id }) => [number, id]),
      [1, 2, 3].map((number) => [number, `by ${told.indexOf(number)}`]),
    );
  });

  it('an entry changes nothing else', async ({ store, look }) => {
    await store.admit(linksOf('a.example', 3));
    const { changes: _, ...before } = await store.census();
    await (await look()).write({ id: 'one', text: TEXT });
    const { changes: __, ...after } = await store.census();
    assert.deepEqual(after, before);
  });

  it('where there is no crawl there is no journal and nobody took part, and looking makes no crawl', async ({
    empty,
  }) => {
    const place = await empty();
    assert.deepEqual(await (await place.look()).journal(0), []);
    assert.deepEqual(await (await place.look()).members(), []);
    const filling = await (await place.look()).fill(); // refused where a crawl is
    await filling.close();
  });

  it('the first entry makes the crawl: it can be worked on, and not be filled', async ({ empty }) => {
    const place = await empty();
    const crawl = await place.look();
    await crawl.write({ id: 'one', text: TEXT });
    await assert.rejects(crawl.fill(), /already/);
    const store = await place.work();
    await store.admit(linksOf('a.example', 3));
    assert.deepEqual(countsOf(await (await place.look()).census()), countsOf(await store.census()));
    assert.equal((await store.beat()).entry, 1);
  });

  it('a journal moves with its crawl: numbers, ids, times and texts', async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    await scene.store.steer([{ kind: 'write', entry: { id: 'one', text: TEXT } }]);
    scene.clock.advance(1_234);
    const ids = Array.from({ length: 700 }, (_, i) => `e${i}`);
    await scene.store.steer(ids.map((id) => ({ kind: 'write', entry: { id, text: '{}' } })));
    await scene.stop();
    const crawl = await scene.look();
    const journal = await wholeJournal((after) => crawl.journal(after));
    assert.equal(journal.length, 701);
    const [tally] = await foundIn(crawl, ['tally']);
    assert.deepEqual(tally?.kind === 'tally' && tally.journal, journal);
    const place = await scene.empty();
    await fillWith(await place.look(), await piecesOf(crawl));
    const moved = await place.look();
    assert.deepEqual(await wholeJournal((after) => moved.journal(after)), journal);
    assert.equal(await moved.write({ id: 'e699', text: 'again' }), 701, 'what was written there is known here');
    const store = await place.work();
    assert.equal((await store.beat()).entry, 701);
    await store.steer([{ kind: 'write', entry: { id: 'next', text: '{}' } }]);
    assert.equal((await store.journal(701))[0]?.number, 702);
  });

  it('a filling that was given up leaves no journal', async ({ empty }) => {
    const place = await empty();
    const given = await (await place.look()).fill();
    await given.take([SITE, { ...TALLY, journal: [{ number: 1, id: 'left', at: 5, text: '{}' }] }]);
    await given.close();
    await fillWith(await place.look(), [SITE, TALLY]);
    const crawl = await place.look();
    assert.deepEqual(await crawl.journal(0), []);
    const [tally] = (await foundIn(crawl, MOVED)).filter(({ kind }) => kind === 'tally');
    assert.deepEqual(tally?.kind === 'tally' && tally.journal, []);
  });
};
