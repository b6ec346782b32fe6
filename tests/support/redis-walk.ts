/** Members at work on one crawl in Redis, at random, with a model that follows them. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { Order } from '../../src/frontier/store.ts';
import type { Link } from '../../src/model/link.ts';
import { openRedisCrawl } from '../../src/store/redis/crawl.ts';
import type { RedisStore, RedisStoreOptions } from '../../src/store/redis/store.ts';
import type { MemberRows, SharedCrawl } from '../../src/store/shared-crawl.ts';
import { SHARDS } from '../../src/url/shard.ts';
import {
  createModel,
  followAdmit,
  followClaim,
  followOrder,
  followSettle,
  leasedVisits,
  sitesOf,
  type Model,
} from '../contract/store-model.ts';
import { ask, link, linksOf } from '../contract/store-scene.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './memory-archive.ts';
import { randomLinks, randomSettlement } from './postgres-scene.ts';
import { createMember, openMember, removeMember, rowsPathOf, type MemberFolder } from './redis-scene.ts';

export interface WalkMember {
  readonly folder: MemberFolder;
  readonly archive: MemoryArchive;
  store: RedisStore;
}

/** Where lines lie, if not in Redis. */
type Changes = Partial<Pick<RedisStoreOptions, 'frontier' | 'frontierLimits'>>;

export interface Walk {
  readonly url: string;
  readonly name: string;
  readonly clock: ManualClock;
  readonly changes: Changes;
  readonly model: Model;
  readonly members: readonly WalkMember[];
}

let walks = 0;
export const freshName = (): string => `look-${process.pid}-${++walks}`;

const openWalk = async (url: string, names: readonly string[], changes: Changes): Promise<Walk> => {
  const name = freshName();
  const clock = createManualClock();
  const members = await Promise.all(
    names.map(async (member): Promise<WalkMember> => {
      const folder = createMember(name, member);
      const archive = openMemoryArchive();
      return { folder, archive, store: await openMember(folder, { url, archive, clock, ...changes }) };
    }),
  );
  return { url, name, clock, changes, model: createModel(), members };
};

export const withWalk = async (
  url: string,
  names: readonly string[],
  story: (walk: Walk) => Promise<void>,
  changes: Changes = {},
): Promise<void> => {
  const walk = await openWalk(url, names, changes);
  try {
    await story(walk);
  } finally {
    for (const { store, folder } of walk.members) {
      await store.close();
      removeMember(folder);
    }
  }
};

export const withCrawl = async <T>(
  { url, name }: Pick<Walk, 'url' | 'name'>,
  work: (crawl: SharedCrawl) => Promise<T>,
  shards = SHARDS,
): Promise<T> => {
  const crawl = await openRedisCrawl({ url, crawl: name, shards, say: () => {} });
  try {
    return await work(crawl);
  } finally {
    await crawl.close();
  }
};

export const rowsOf = ({ folder }: WalkMember): MemberRows => ({ member: folder.member, rowsPath: rowsPathOf(folder) });

/** Ends with links in every state; members are killed in between where there are several. */
export const takeSteps = async (walk: Walk, steps = 250): Promise<void> => {
  const { members, clock } = walk;
  for (let step = 0; step < steps; step++) {
    const member = members[randomInt(members.length)]!;
    const dice = randomInt(100);
    if (dice < 35) await admit(walk, member, randomLinks(randomInt(12)));
    else if (dice < 60) await claim(walk, member, { visits: 1 + randomInt(6) });
    else if (dice < 87) await settle(walk, member);
    else if (dice < 89) await order(walk, { kind: 'retry-parked' });
    else if (dice < 97 || members.length === 1) clock.advance(randomInt(2_000));
    else await kill(walk, member);
  }
  clock.advance(10_000);
  await admit(walk, members[0]!, [...linksOf('a.example', 70), link('b.example/')]);
  if (members.length > 1) await kill(walk, members[0]!); // just opened, it believes nothing and looks at all shards
  await claim(walk, members[0]!, { sitePagesMax: 2 }, 'all');
  await order(walk, { kind: 'mark', name: 'seeds', value: 3 });
};

const admit = async ({ model, clock }: Walk, { store }: WalkMember, links: readonly Link[]): Promise<void> => {
  followAdmit(model, links, { siteWaitingMax: Infinity, now: clock.now() });
  await store.admit(links);
};

/** The holder is named for its member: so the model knows whose leases end with it. */
const claim = async (
  { model, clock, members }: Walk,
  { store, folder }: WalkMember,
  changes: { visits?: number; sitePagesMax?: number },
  given: 'all' | 'some' = 'some',
): Promise<void> => {
  const asked = ask({ delayMs: 500, holder: folder.member, ...changes });
  const claimed = await store.claim(asked);
  // For a second a member may not know of what another has admitted or settled: then it is given less.
  const visits = members.length > 1 && given === 'some' ? claimed.visits.length : asked.visits;
  followClaim(model, { asked: { ...asked, visits }, claimed, now: clock.now() });
};

const settle = async ({ model, clock }: Walk, { store, folder: { member } }: WalkMember): Promise<void> => {
  const mine = sitesOf(model).flatMap(({ lease }) => (lease?.holder === member ? [lease.visit] : []));
  const settlements = mine.filter(() => randomInt(3) > 0).map((visit) => randomSettlement(visit, clock.now()));
  const kept = followSettle(model, settlements);
  assert.deepEqual(await store.settle(settlements), { settled: kept.length, refused: 0 });
};

const kill = async ({ url, model, clock, changes }: Walk, member: WalkMember): Promise<void> => {
  await member.store.close();
  member.store = await openMember(member.folder, { url, archive: member.archive, clock, ...changes });
  followOrder(model, { kind: 'free', holder: member.folder.member, counted: true }, clock.now());
};

export const order = async ({ model, clock, members }: Walk, given: Order): Promise<void> => {
  followOrder(model, given, clock.now());
  for (const { store } of members) await store.steer([given]);
};

/** As a stop does: no link is leased afterwards. */
export const rest = async (walk: Walk): Promise<void> => {
  await order(walk, { kind: 'free', holder: null, counted: false });
  assert.equal(leasedVisits(walk.model).length, 0);
};
