/** A crawl in PostgreSQL with its members, opened as processes open it. */

import { randomInt } from 'node:crypto';
import type { Archive } from '../../src/archive/archive.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Link } from '../../src/model/link.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import type { LookOptions, OpenedStore, StoreOptions } from '../../src/store/options.ts';
import { openPostgresCrawl } from '../../src/store/postgres/crawl.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { ask, link, pageOf, paceAfter, recordsOf, settlementOf } from '../contract/store-scene.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './memory-archive.ts';
import type { PostgresServer } from './postgres-server.ts';

/** The crawl "here" as its member "a", unless the changes say otherwise. */
export const lookOptions = (url: string, changes: Partial<LookOptions> = {}): LookOptions => ({
  url,
  crawl: 'here',
  member: 'a',
  shards: SHARDS,
  dir: '',
  frontier: 'store',
  say: () => {},
  ...changes,
});

/** As a process opens it that has this archive; without a clock, on the server's time. */
export const workOptions = (
  url: string,
  { archive, clock = null }: { readonly archive: Archive; readonly clock?: Clock | null },
  changes: Partial<StoreOptions> = {},
): StoreOptions => ({
  ...lookOptions(url),
  archive: (settled) => {
    archive.cut(settled);
    return archive;
  },
  dead: () => {},
  clock: clock && (() => clock),
  ...changes,
});

export interface Member {
  readonly name: string;
  readonly archive: MemoryArchive;
  store: OpenedStore;
}

export interface PostgresScene {
  readonly url: string;
  readonly clock: ManualClock;
  /** Opens the crawl as that member, on the archive it has if it was there before. */
  member(name: string, archive?: MemoryArchive, changes?: Partial<StoreOptions>): Promise<Member>;
  /** Opens the crawl to look at it. */
  crawl(changes?: Partial<LookOptions>): Promise<StoredCrawl>;
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

export const withScene = async (
  server: PostgresServer,
  story: (scene: PostgresScene) => Promise<void>,
): Promise<void> => {
  const url = await server.database();
  const clock = createManualClock();
  const opened: { close(): Promise<void> }[] = [];
  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  try {
    await story({
      url,
      clock,
      member: async (name, archive = openMemoryArchive(), changes = {}) => {
        const store = await openPostgresStore(workOptions(url, { archive, clock }, { member: name, ...changes }));
        return { name, archive, store: kept(store) };
      },
      crawl: async (changes) => kept(await openPostgresCrawl(lookOptions(url, changes))),
      query: (text, values) => server.query(url, text, values),
    });
  } finally {
    for (const one of opened) await one.close();
  }
};

const SITES = 30;
const PATHS = 40;
const STEPS = 250;
const OUTCOMES = ['fetched', 'fetched', 'client-error', 'robots-denied', 'failed-reset', 'server-error'] as const;

export const randomLinks = (count: number): Link[] =>
  Array.from({ length: count }, (): Link => {
    const made = link(`s${Math.floor((randomInt(SITES) * randomInt(SITES)) / SITES)}.example/${randomInt(PATHS)}`, {
      first: randomInt(6) === 0,
      depth: randomInt(5),
      hops: randomInt(3),
      fallback: randomInt(9) === 0,
      via: ['', 'https://v.example/', 'https://w.example/ü'][randomInt(3)]!,
    });
    return randomInt(9) === 0 ? { ...made, sitemap: 'listed' } : made;
  });

export const randomSettlement = (visit: Visit, now: number): Settlement => {
  const fate = (['settled', 'settled', 'settled', 'retry', 'returned'] as const)[randomInt(5)]!;
  const outcome = OUTCOMES[randomInt(OUTCOMES.length)]!;
  const parked = randomInt(12) === 0;
  const isAnswered = outcome === 'fetched' || outcome === 'client-error' || outcome === 'server-error';
  return settlementOf(visit, {
    fate,
    parked,
    page:
      fate === 'settled'
        ? pageOf(visit, {
            outcome,
            status: isAnswered ? 200 : null,
            extracted: randomInt(2) === 0 ? null : '{"a":"\\"b\\""}',
          })
        : null,
    records:
      fate === 'settled' && isAnswered
        ? recordsOf(`${visit.link.url} ${visit.lease}`, ['', 'robots;'][randomInt(2)])
        : null,
    pace: paceAfter(visit, {
      dueAt: parked ? now : now + randomInt(6_000) + 0.25,
      delayMs: 500 + randomInt(4_000),
      crawlDelayMs: randomInt(3),
      responseMs: randomInt(90) + 1 / 3,
      failures: randomInt(4),
    }),
    robots:
      randomInt(4) > 0
        ? null
        : {
            origin: new URL(visit.link.url).origin,
            fetchedAt: now,
            expiresAt: now + 0.5,
            verdict: 'rules',
            rules: `1 -/${visit.lease}\n2 +/"\\`,
            crawlDelayMs: [null, 1_500][randomInt(2)]!,
            failures: randomInt(3),
          },
  });
};

/** Two members at work, the second killed again and again; in the end links are in every state. */
export const walkTogether = async ({ clock, member }: PostgresScene): Promise<readonly Member[]> => {
  const members = [await member('a'), await member('b')];
  const visits: { visit: Visit; by: number }[] = [];
  for (let step = 0; step < STEPS; step++) {
    const i = randomInt(members.length);
    const { store } = members[i]!;
    const dice = randomInt(100);
    if (dice < 30) await store.admit(randomLinks(randomInt(12)), [null, 12][randomInt(2)]!);
    else if (dice < 55)
      visits.push(
        ...(
          await store.claim(
            ask({ visits: 5, delayMs: 500, leaseMs: 60_000, sitePagesMax: { all: [null, 3][randomInt(2)]! } }),
          )
        ).visits.map((visit) => ({ visit, by: i })),
      );
    else if (dice < 85) await store.settle(take(visits, i).map(({ visit }) => randomSettlement(visit, clock.now())));
    else if (dice < 95) clock.advance(randomInt(3_000));
    else if (dice < 98)
      await store.steer([{ kind: 'retry-parked' }, { kind: 'mark', name: 'seeds', value: randomInt(99) + 0.5 }]);
    else {
      await members[1]!.store.close();
      members[1] = await member('b', members[1]!.archive);
    }
  }
  return members;
};

const take = <T extends { by: number }>(visits: T[], by: number): T[] => {
  const mine = visits.filter((one) => one.by === by && randomInt(3) > 0);
  for (const one of mine) visits.splice(visits.indexOf(one), 1);
  return mine;
};
