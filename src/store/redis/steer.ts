/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Change } from '../../contract/store.ts';
import type { SitePagesMax } from '../../model/site-budget.ts';
import { budgetsIn } from './budgets.ts';
import { writeEntry } from './journal.ts';
import { noteEntries, writeGivenUp, type LeaseSession, type Session } from './session.ts';
import { readLastSettled, type LastSettled } from './unsettled.ts';
import { everyShard } from './wire.ts';

/** Every change may be repeated. */
export const steer = async (session: Session, changes: readonly Change[]): Promise<void> => {
  for (const change of changes) await make(session, change);
};

const make = async (session: Session, change: Change): Promise<void> => {
  switch (change.kind) {
    case 'free': {
      const { holder, counted, culprit = null } = change;
      await free(session, { holder: holder === null ? '' : `${session.member}/${holder}`, counted, culprit });
      session.book.died(holder);
      return;
    }
    case 'retry-parked':
      return release(session, 'parked', { all: null });
    case 'release-held':
      return release(session, 'held', change.sitePagesMax);
    case 'release-refused':
      return release(session, 'refused', { all: change.scope });
    case 'write':
      noteEntries(session, [{ ...change.entry, number: await writeEntry(session.wire, change.entry) }]);
      return;
    case 'mark':
      await session.wire.all([{ name: 'mark', shard: null, args: [change.name, change.value] }]);
      return;
    default:
      change satisfies never;
  }
};

export interface Freeing {
  /** The member whose leases are freed: this one where it is missing. */
  readonly of?: string;
  /** Only leases of these runs of the member; missing for any. */
  readonly runs?: readonly string[];
  /** Empty for any. */
  readonly holder: string;
  /** All of them where it is missing. */
  readonly shards?: readonly number[];
  readonly counted: boolean;
  readonly culprit: number | null;
}

type FreeAnswer = readonly [moments: string, givenUp: string[], lastBatch: string];

/** Frees leases of a member, and says of each shard which batch this one settled last. */
export const free = async (session: LeaseSession, freeing: Freeing): Promise<Map<number, LastSettled>> => {
  const { wire, shards, hints, member } = session;
  const { of = member, runs = [], holder, counted, culprit, shards: some = everyShard(shards, (n) => n) } = freeing;
  const args = [of, runs.join(','), holder, counted ? 1 : 0, culprit ?? '', CLAIMS_MAX];
  const answers = (await wire.all(some.map((shard) => ({ name: 'free', shard, args })))) as FreeAnswer[];
  return new Map(
    answers.map(([moments, givenUp, last], i) => {
      const shard = some[i]!;
      hints.learn(shard, moments);
      writeGivenUp(session, shard, givenUp);
      return [shard, readLastSettled(last)];
    }),
  );
};

/** In rounds, a part of each shard at a time. */
const release = async (
  { wire, shards, hints }: LeaseSession,
  from: 'parked' | 'held' | 'refused',
  { all, sites }: Pick<SitePagesMax, 'sites'> & { readonly all: number | string | null },
): Promise<void> => {
  const budgets = (shard: number): string[] => (sites ? [budgetsIn(sites, shard, shards)] : []);
  let open = everyShard(shards, (shard) => ({ shard, cursor: '0' }));
  while (open.length > 0) {
    const answers = (await wire.all(
      open.map(({ shard, cursor }) => ({ name: 'release', shard, args: [from, all ?? '', cursor, ...budgets(shard)] })),
    )) as string[][];
    open = open.flatMap(({ shard }, i) => {
      hints.learn(shard, answers[i]![0]!);
      const cursor = answers[i]![1]!;
      return cursor === '0' ? [] : [{ shard, cursor }];
    });
  }
};
