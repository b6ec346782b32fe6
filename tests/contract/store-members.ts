/** What members of a crawl do for each other, and when their store goes back in time: for stores that are shared. */

import assert from 'node:assert/strict';
import test from 'node:test';

import type { Archive } from '../../src/archive/archive.ts';
import type { MemberAbout } from '../../src/contract/journal.ts';
import type { Store } from '../../src/contract/store.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { DeadRecords } from '../../src/contract/walk.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { BEAT_MS, DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../../src/model/pulse.ts';
import type { Visit } from '../../src/model/visit.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from '../support/memory-archive.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, recordsOf, settlementOf } from './store-scene.ts';
import { pagesIn } from './stored-scene.ts';

/** A place for one crawl that several members work on. */
export interface SharedPlace {
  /** Opens the crawl as this member, whose former process is dead. */
  open(member: string, parts: MemberParts): Promise<Store>;
  /** Opens it to look at it, as this member. */
  look(member: string): Promise<StoredCrawl>;
  /** Remembers the crawl as it is. What it gives takes the crawl back to that, on a server that is another one. */
  save(): Promise<() => Promise<void>>;
  /** Called once, after all that was opened is closed: leave nothing behind. */
  remove?(): unknown;
}

export interface MemberParts {
  /** The store's time. */
  readonly clock: Clock;
  /** To be cut, or not, when the store is opened. */
  readonly archive: Archive;
  readonly dead: (records: readonly DeadRecords[]) => void;
  readonly about: MemberAbout;
}

interface OneMember {
  /** The store as it is open now. */
  readonly store: Store;
  readonly archive: MemoryArchive;
  readonly dead: DeadRecords[];
  /** Its process dies, and another opens the directory. */
  again(): Promise<void>;
}

interface SharedScene {
  readonly clock: ManualClock;
  readonly place: SharedPlace;
  join(name: string): Promise<OneMember>;
  look(member: string): Promise<StoredCrawl>;
}

const LEASE_MS = 240_000;
/** In memory an archive is one file. */
const ONE_FILE_BYTES = 2 ** 30;

const aboutOf = (name: string): MemberAbout => ({
  host: `${name}.test`,
  pid: 7,
  dir: `/crawls/${name}`,
  version: '1.2.3',
  startedAt: 5,
});

/** Time passes, second by second, and these are heard all the while. */
const pass = async (clock: ManualClock, ms: number, ...heard: readonly OneMember[]): Promise<void> => {
  for (let left = ms; left > 0; left -= BEAT_MS) {
    clock.advance(Math.min(left, BEAT_MS));
    for (const one of heard) await one.store.beat();
  }
};

const due = async ({ store }: OneMember): Promise<readonly Visit[]> =>
  (await store.claim(ask({ leaseMs: LEASE_MS }))).visits;

/** These are heard until one of them is given a visit; says how long that took. */
const untilVisit = async (
  clock: ManualClock,
  ...heard: readonly OneMember[]
): Promise<{ visit: Visit; ms: number }> => {
  for (let ms = 0; ms <= 60_000; ms += BEAT_MS) {
    for (const one of heard) {
      const [visit] = await due(one);
      if (visit) return { visit, ms };
    }
    await pass(clock, BEAT_MS, ...heard);
  }
  throw new Error('nothing was given in a minute');
};

const REFUSED = { settled: 0, refused: 1, refusedAt: [0] };

/** Registers all behaviours of one kind of store, under its name. `open` makes a new, empty place each time. */
export const membersContract = (name: string, open: () => SharedPlace | Promise<SharedPlace>): void => {
  const it = (title: string, run: (scene: SharedScene) => Promise<void>): void =>
    void test(`${name}: ${title}`, async () => {
      const clock = createManualClock();
      const place = await open();
      const opened: { close(): Promise<void> }[] = [];
      const kept = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
        const one = await opening;
        opened.push(one);
        return one;
      };
      const join = async (member: string): Promise<OneMember> => {
        const archive = openMemoryArchive(ONE_FILE_BYTES);
        const dead: DeadRecords[] = [];
        const parts = { clock, archive, dead: (some: readonly DeadRecords[]) => void dead.push(...some) };
        const work = (): Promise<Store> => kept(place.open(member, { ...parts, about: aboutOf(member) }));
        let store = await work();
        return {
          archive,
          dead,
          get store() {
            return store;
          },
          again: async () => {
            await store.close();
            store = await work();
          },
        };
      };
      try {
        await run({ clock, place, join, look: (member) => kept(place.look(member)) });
      } finally {
        for (const one of opened.reverse()) await one.close();
        await place.remove?.();
      }
    });

  it('members are known with what they said of themselves, when they were heard, and what they settled', async ({
    clock,
    join,
    look,
  }) => {
    const a = await join('a');
    clock.advance(1_000);
    const b = await join('b');
    await pass(clock, 2_000, a, b);
    await a.store.admit([link('x.example/1'), link('y.example/1')]);
    const [one, two] = await due(a);
    await a.store.settle([settlementOf(one!), settlementOf(two!, { fate: 'retry' })]);
    const seenAt = clock.now();
    await pass(clock, 3_000, b);
    const members = await (await look('b')).members();
    assert.deepEqual(
      members.map((member) => [member.member, member.settled, member.about?.host, member.about?.startedAt]),
      [
        ['a', 1, 'a.test', 5],
        ['b', 0, 'b.test', 5],
      ],
    );
    assert.ok(Math.abs(members[0]!.seenAt - seenAt) <= BEAT_MS, 'a was heard until then');
    assert.ok(members[1]!.seenAt > members[0]!.seenAt);
  });

  it('the leases of a member that is not heard any more are freed by another, a full delay later', async ({
    clock,
    join,
  }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.beat();
    await b.store.beat();
    await a.store.admit(linksOf('x.example', 1));
    await claimOne(a.store, { leaseMs: LEASE_MS });
    await pass(clock, DEAD_AFTER_MS - BEAT_MS, b);
    assert.equal((await b.store.census()).leased, 1, 'not before it must have ended its visits');
    await pass(clock, 2 * BEAT_MS, b);
    assert.deepEqual([(await b.store.census()).leased, (await due(b)).length], [0, 0]);
    await pass(clock, DELAY_MS - BEAT_MS - 1, b);
    assert.equal((await due(b)).length, 0);
    await pass(clock, BEAT_MS + 1, b);
    const [visit] = await due(b);
    assert.equal(visit?.tries, 2, 'it may have been what killed the other');
  });

  it('members that are heard keep their leases', async ({ clock, join }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 1));
    const { term } = await a.store.beat();
    const visit = await claimOne(a.store, { leaseMs: LEASE_MS });
    await pass(clock, 3 * DEAD_AFTER_MS, a, b);
    assert.equal((await a.store.beat()).term, term);
    assert.deepEqual(await a.store.settle([settlementOf(visit)]), { settled: 1, refused: 0 });
  });

  it('a lease of another member is refused, though it has the same number', async ({ clock, join }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 1));
    const old = await claimOne(a.store, { leaseMs: LEASE_MS });
    await pass(clock, DEAD_AFTER_MS + DELAY_MS + BEAT_MS, b);
    const visit = await claimOne(b.store, { leaseMs: LEASE_MS });
    const late = settlementOf({ ...old, lease: visit.lease }, { records: recordsOf('late') });
    assert.deepEqual(await a.store.settle([late]), REFUSED);
    assert.deepEqual(await a.store.settle([settlementOf(old)]), REFUSED);
    assert.equal(a.archive.totalBytes(), 0);
    assert.deepEqual(await b.store.settle([settlementOf(visit)]), { settled: 1, refused: 0 });
  });

  it('a lease that ran out and is another member’s now is refused, though it has the same number', async ({
    clock,
    join,
  }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 1));
    const old = await claimOne(a.store, { leaseMs: 30_000 });
    await pass(clock, 30_000 + DELAY_MS, a, b);
    const visit = await claimOne(b.store, { leaseMs: LEASE_MS });
    assert.deepEqual(await a.store.settle([settlementOf({ ...old, lease: visit.lease })]), REFUSED);
    assert.deepEqual(await b.store.settle([settlementOf(visit)]), { settled: 1, refused: 0 });
  });

  it('a member that was not heard for long begins a new term: its leases are void, and it claims again', async ({
    clock,
    join,
  }) => {
    const a = await join('a');
    await a.store.admit(linksOf('x.example', 1));
    const { term } = await a.store.beat();
    const visit = await claimOne(a.store, { leaseMs: LEASE_MS });
    clock.advance(LAPSED_AFTER_MS);
    assert.equal((await a.store.beat()).term, term, 'just in time');
    clock.advance(LAPSED_AFTER_MS + 1);
    const next = (await a.store.beat()).term;
    assert.ok(next > term);
    await pass(clock, DELAY_MS, a);
    assert.equal((await due(a)).length, 0, 'its visit is still under way');
    assert.deepEqual(await a.store.settle([settlementOf(visit, { records: recordsOf('x') })]), REFUSED);
    await a.store.beat();
    assert.equal((await due(a)).length, 0, 'a full delay after it was freed');
    await pass(clock, DELAY_MS, a);
    const again = await claimOne(a.store, { leaseMs: LEASE_MS });
    assert.equal(again.tries, 1, 'the link is not to blame');
    assert.equal((await a.store.claim(ask())).term, next);
    assert.deepEqual(await a.store.settle([settlementOf(again)]), { settled: 1, refused: 0 });
  });

  it('a store that went back is shut until all have put their part right; no site is visited early then', async ({
    clock,
    place,
    join,
  }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 3));
    await pass(clock, 3_000, a, b);
    const { term } = await a.store.beat();
    const goBack = await place.save();
    const first = await claimOne(a.store, { leaseMs: LEASE_MS });
    await a.store.settle([settlementOf(first, { records: recordsOf('first') })]);
    await pass(clock, DELAY_MS, a, b);
    const second = await claimOne(a.store, { leaseMs: LEASE_MS });
    const askedAt = clock.now();
    await goBack();
    assert.deepEqual(await due(b), [], 'the site seems to be due, and is under visit');
    await pass(clock, 2_000, a, b);
    assert.deepEqual([await due(a), await due(b)], [[], []]);
    assert.ok((await a.store.beat()).term > term);
    const looks = [await b.store.census(), await b.store.census()];
    await pass(clock, 30_000, a, b);
    looks.push(await b.store.census(), await a.store.census());
    assert.ok(
      looks.some(({ leased, waiting }) => leased + waiting > 0),
      'it does not seem to be finished',
    );
    assert.deepEqual([await due(a), await due(b)], [[], []], 'a visit is still under way');
    assert.deepEqual(await a.store.settle([settlementOf(second)]), REFUSED);
    const endedAt = clock.now();
    const { visit } = await untilVisit(clock, b, a);
    assert.equal(visit.link.url, 'https://x.example/1', 'its settlement is forgotten');
    assert.ok(visit.claimedAt >= endedAt + DELAY_MS && visit.claimedAt >= askedAt + DELAY_MS);
  });

  it('what a store forgot its members forget: records are listed, not cut, and links are sent again', async ({
    clock,
    place,
    join,
    look,
  }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 1));
    await pass(clock, 1_000, a, b);
    const goBack = await place.save();
    await b.store.admit(linksOf('y.example', 1));
    const visits = await due(a);
    assert.equal(visits.length, 2);
    await a.store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.site) })));
    const archived = a.archive.totalBytes();
    await goBack();
    const settled: string[] = [];
    for (let i = 0; i < 60 && settled.length < 2; i++) {
      await pass(clock, BEAT_MS, a, b);
      for (const visit of await due(a)) {
        settled.push(visit.link.url);
        await a.store.settle([settlementOf(visit, { records: recordsOf(`${visit.site} again`) })]);
      }
    }
    assert.deepEqual(settled.toSorted(), ['https://x.example/1', 'https://y.example/1']);
    const dead = a.dead.map(({ offset, bytes }) => [offset, offset + bytes]);
    assert.deepEqual([Math.min(...dead.map(([from]) => from!)), Math.max(...dead.map(([, to]) => to!))], [0, archived]);
    const rows = await pagesIn(await look('a'));
    assert.deepEqual(
      rows.map((row) => new TextDecoder().decode(a.archive.read(row))).toSorted(),
      ['response x.example again;', 'response y.example again;'],
      'each page has one row, that of its second visit',
    );
  });

  it('who was dead when the store went back lists what it forgot when it is back, and cuts nothing', async ({
    clock,
    place,
    join,
    look,
  }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 3));
    await pass(clock, 1_000, a, b);
    await a.store.settle([settlementOf(await claimOne(a.store), { records: recordsOf('one') })]);
    const kept = a.archive.totalBytes();
    await pass(clock, DELAY_MS, a, b);
    const goBack = await place.save();
    await a.store.settle([settlementOf(await claimOne(a.store), { records: recordsOf('two') })]);
    await pass(clock, DELAY_MS, a, b);
    await a.store.settle([settlementOf(await claimOne(a.store), { records: recordsOf('three') })]);
    const archived = a.archive.totalBytes();
    await goBack();
    const { visit } = await untilVisit(clock, b);
    assert.equal(visit.link.url, 'https://x.example/2');
    await b.store.settle([settlementOf(visit, { records: recordsOf('two again') })]);
    await a.again();
    assert.equal(a.archive.totalBytes(), archived);
    assert.deepEqual(
      a.dead.map(({ offset, bytes }) => [offset, offset + bytes]),
      [[kept, archived]],
    );
    const { visit: third } = await untilVisit(clock, a, b);
    await a.store.settle([settlementOf(third, { records: recordsOf('three again') })]);
    const rows = (await pagesIn(await look('a'))).filter(({ url }) => url !== 'https://x.example/2');
    assert.deepEqual(
      rows.map((row) => new TextDecoder().decode(a.archive.read(row))),
      ['response one;', 'response three again;'],
    );
  });

  it('a store that goes back twice is put right twice', async ({ clock, place, join, look }) => {
    const [a, b] = [await join('a'), await join('b')];
    await a.store.admit(linksOf('x.example', 1));
    await pass(clock, 1_000, a, b);
    const goBack = await place.save();
    for (let i = 0; i < 2; i++) {
      const { visit } = await untilVisit(clock, a, b);
      await a.store.settle([settlementOf(visit, { records: recordsOf(`${i}`) })]);
      await pass(clock, 1_000, a, b);
      await goBack();
      await pass(clock, 3_000, a, b);
      await goBack();
    }
    const { visit } = await untilVisit(clock, a, b);
    const settled = await Promise.all(
      [a, b].map(({ store }) => store.settle([settlementOf(visit, { records: recordsOf('last') })])),
    );
    assert.equal(
      settled.reduce((sum, one) => sum + one.settled, 0),
      1,
      'whoever has the lease',
    );
    const [row] = await pagesIn(await look('a'));
    assert.equal(row?.url, 'https://x.example/1');
  });
};
