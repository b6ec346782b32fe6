/** Numbered changes that hold for all members, and what a beat says of them. */

import assert from 'node:assert/strict';

import type { Entry } from '../../src/contract/journal.ts';
import type { Change, Store } from '../../src/contract/store.ts';
import { BEAT_MS } from '../../src/model/pulse.ts';
import { ask, claimOne, linksOf, settlementOf, type Behaviour } from './store-scene.ts';

const entry = (id: string, text = `{"kind":"settings","who":"${id}"}`): Change => ({
  kind: 'write',
  entry: { id, text },
});

/** Piece after piece, as a member reads it. */
export const wholeJournal = async (journal: (after: number) => Promise<readonly Entry[]>): Promise<Entry[]> => {
  const all: Entry[] = [];
  for (;;) {
    const some = await journal(all.length);
    if (some.length === 0) return all;
    all.push(...some);
  }
};

const idsIn = async (store: Store): Promise<string[]> =>
  (await wholeJournal((after) => store.journal(after))).map(({ id }) => id);

export const journalContract = (it: Behaviour): void => {
  it('before the first entry the journal is empty, and its last number is 0', async ({ store }) => {
    assert.deepEqual(await store.journal(0), []);
    assert.equal((await store.beat()).entry, 0);
    assert.equal((await store.claim(ask())).entry, 0);
  });

  it('an entry has the next number, the time of the store, and its text as it was written', async ({
    store,
    clock,
  }) => {
    const at = clock.now();
    const text = `{"kind":"exclude","hosts":${JSON.stringify('"ü🕸\\\n\t{}%'.repeat(20_000))}}`;
    await store.steer([entry('one', text)]);
    clock.advance(1_500);
    await store.steer([entry('two'), entry('three')]);
    const [one, two, three, ...more] = await store.journal(0);
    assert.deepEqual(one, { number: 1, id: 'one', at, text });
    assert.deepEqual([two?.number, two?.id, two?.at], [2, 'two', at + 1_500]);
    assert.deepEqual([three?.number, three?.id, more.length], [3, 'three', 0]);
  });

  it('only entries after a number are given, none after the last', async ({ store }) => {
    await store.steer([entry('one'), entry('two'), entry('three')]);
    assert.deepEqual(
      (await store.journal(1)).map(({ number }) => number),
      [2, 3],
    );
    assert.deepEqual(await store.journal(3), []);
    assert.deepEqual(await store.journal(99), []);
  });

  it('an entry that is sent again is written once, and takes no number', async ({ store, clock }) => {
    const at = clock.now();
    await store.steer([entry('one', 'first'), entry('one', 'again')]);
    clock.advance(1_000);
    await store.steer([entry('one', 'later'), entry('two')]);
    const journal = await store.journal(0);
    assert.deepEqual(journal[0], { number: 1, id: 'one', at, text: 'first' });
    assert.deepEqual([journal[1]?.number, journal[1]?.id, journal.length], [2, 'two', 2]);
  });

  it('numbers have no gap, however many write at once', async ({ store }) => {
    const ids = Array.from({ length: 60 }, (_, i) => `e${i}`);
    await Promise.all(ids.map((id, i) => store.steer([entry(id), entry(ids[(i + 1) % ids.length]!)])));
    const journal = await wholeJournal((after) => store.journal(after));
    assert.deepEqual(
      journal.map(({ number }) => number),
      ids.map((_, i) => i + 1),
    );
    assert.deepEqual(new Set(journal.map(({ id }) => id)), new Set(ids));
  });

  it('a long journal is read piece by piece to its end', async ({ store }) => {
    const ids = Array.from({ length: 1_300 }, (_, i) => `e${i}`);
    await store.steer(ids.map((id) => entry(id)));
    assert.deepEqual(await idsIn(store), ids);
    assert.equal((await store.beat()).entry, ids.length);
  });

  it('beats and claims tell the number of the last entry', async ({ store }) => {
    await store.admit(linksOf('a.example', 1));
    await store.steer([entry('one'), entry('two')]);
    assert.equal((await store.beat()).entry, 2);
    const claimed = await store.claim(ask());
    assert.deepEqual([claimed.visits.length, claimed.entry], [1, 2]);
    assert.equal((await store.claim(ask())).entry, 2, 'also one that gives no visit');
    await store.steer([entry('three')]);
    assert.equal((await store.claim(ask())).entry, 3);
    assert.equal((await store.beat()).entry, 3);
  });

  it('entries are there after a crash, and the numbers go on', async (scene) => {
    await scene.store.steer([entry('one'), entry('two')]);
    const before = await scene.store.journal(0);
    await scene.crash();
    assert.equal((await scene.store.beat()).entry, 2);
    assert.deepEqual(await scene.store.journal(0), before);
    await scene.store.steer([entry('two'), entry('three')]);
    assert.deepEqual(await idsIn(scene.store), ['one', 'two', 'three']);
  });

  it('an entry changes nothing else, a beat and a look at the journal nothing at all', async ({ store }) => {
    await store.admit(linksOf('a.example', 3));
    const { changes: _, ...before } = await store.census();
    await store.steer([entry('one')]);
    const { changes: __, ...after } = await store.census();
    assert.deepEqual(after, before);
    const then = await store.census();
    await store.beat();
    await store.journal(0);
    assert.deepEqual(await store.census(), then);
  });

  it('while a member is heard its term stays, and so do its leases', async ({ store, clock }) => {
    await store.admit(linksOf('a.example', 1));
    const { term } = await store.beat();
    const visit = await claimOne(store);
    for (let i = 0; i < 30; i++) {
      clock.advance(BEAT_MS);
      assert.equal((await store.beat()).term, term);
    }
    assert.equal((await store.claim(ask())).term, term);
    assert.deepEqual(await store.settle([settlementOf(visit)]), { settled: 1, refused: 0 });
  });
};
