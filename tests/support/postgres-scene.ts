/** A crawl in PostgreSQL with its members, opened as processes open it, and a random walk over it. */

import { randomInt } from 'node:crypto';
import type { Link } from '../../src/model/link.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import { openPostgresCrawl } from '../../src/store/postgres/crawl.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/store.ts';
import type { SharedCrawl } from '../../src/store/shared.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { ask, link, pageOf, paceAfter, recordsOf, settlementOf } from '../contract/store-scene.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './memory-archive.ts';
import type { PostgresServer } from './postgres-server.ts';

export interface Member {
  readonly name: string;
  readonly archive: MemoryArchive;
  store: PostgresStore;
}

export interface PostgresScene {
  readonly url: string;
  readonly clock: ManualClock;
  /** Opens the crawl as that member, on the archive it has if it was there before; `here` unless another is named. */
  member(
    name: string,
    archive?: MemoryArchive,
    at?: { readonly crawl: string; readonly shards: number },
  ): Promise<Member>;
  /** Opens a crawl to look at it; `here` unless another is named. */
  crawl(name?: string, shards?: number): Promise<SharedCrawl>;
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
      member: async (name, archive = openMemoryArchive(), at = { crawl: 'here', shards: SHARDS }) => {
        const store = await openPostgresStore({
          url,
          ...at,
          member: name,
          clock,
          say: () => {},
          archive: (settled) => {
            archive.cut(settled);
            return archive;
          },
        });
        return { name, archive, store: kept(store) };
      },
      crawl: async (name = 'here', shards = SHARDS) =>
        kept(await openPostgresCrawl({ url, crawl: name, shards, say: () => {} })),
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
            extracted: randomInt(2) === 0 ? '' : '{"a":"\\"b\\""}',
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
          },
  });
};

/**
 * Members at work, the last of them killed again and again; in the end links wait, are leased (if asked for), parked,
 * held and settled.
 */
export const walkTogether = async (
  { clock, member }: PostgresScene,
  { leased, names = ['a', 'b'] }: { leased: boolean; names?: readonly string[] },
): Promise<Member[]> => {
  const members = await Promise.all(names.map((name) => member(name)));
  const last = members.length - 1;
  const visits: { visit: Visit; by: number }[] = [];
  for (let step = 0; step < STEPS; step++) {
    const i = randomInt(members.length);
    const { store } = members[i]!;
    const dice = randomInt(100);
    if (dice < 30) await store.admit(randomLinks(randomInt(12)), [null, 12][randomInt(2)]!);
    else if (dice < 55)
      visits.push(
        ...(
          await store.claim(ask({ visits: 5, delayMs: 500, leaseMs: 60_000, sitePagesMax: [null, 3][randomInt(2)]! }))
        ).visits.map((visit) => ({ visit, by: i })),
      );
    else if (dice < 85) await store.settle(take(visits, i).map(({ visit }) => randomSettlement(visit, clock.now())));
    else if (dice < 95) clock.advance(randomInt(3_000));
    else if (dice < 98)
      await store.steer([{ kind: 'retry-parked' }, { kind: 'mark', name: 'seeds', value: randomInt(99) + 0.5 }]);
    else {
      await members[last]!.store.close();
      members[last] = await member(names[last]!, members[last]!.archive);
    }
  }
  for (const { store } of members) if (!leased) await store.steer([{ kind: 'free', holder: null, counted: false }]);
  return members;
};

const take = <T extends { by: number }>(visits: T[], by: number): T[] => {
  const mine = visits.filter((one) => one.by === by && randomInt(3) > 0);
  for (const one of mine) visits.splice(visits.indexOf(one), 1);
  return mine;
};
