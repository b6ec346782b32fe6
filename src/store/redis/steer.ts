/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Change } from '../../contract/store.ts';
import type { SitePagesMax } from '../../model/site-budget.ts';
import { budgetsIn } from './budgets.ts';
import { writeGivenUp, type LeaseSession } from './session.ts';
import { readLastSettled, type LastSettled } from './unsettled.ts';
import { everyShard } from './wire.ts';

/** Every change may be repeated. */
export const steer = async (session: LeaseSession, changes: readonly Change[]): Promise<void> => {
  for (const change of changes) await make(session, change);
};

const make = async (session: LeaseSession, change: Change): Promise<void> => {
  switch (change.kind) {
    case 'free': {
      const { holder, counted, culprit = null } = change;
      await free(session, { holder: holder === null ? '' : `${session.member}/${holder}`, counted, culprit });
      return;
    }
    case 'retry-parked':
      return release(session, 'parked', { all: null });
    case 'release-held':
      return release(session, 'held', change.sitePagesMax);
    case 'release-refused':
      return release(session, 'refused', { all: change.scope });
    case 'mark':
      await session.wire.all([{ name: 'mark', shard: null, args: [change.name, change.value] }]);
      return;
    default:
      change satisfies never;
  }
};

export interface Freeing {
  /** Empty for all of this member. */
  readonly holder: string;
  readonly counted: boolean;
  readonly culprit: number | null;
}

type FreeAnswer = readonly [string, string, string, freed: string[], givenUp: string[], lastBatch: string];

/** Frees leases of this member in every shard, and says of each shard which batch it settled last. */
export const free = async (session: LeaseSession, freeing: Freeing): Promise<LastSettled[]> => {
  const { wire, shards, hints, leases } = session;
  const args = [freeing.holder, freeing.counted ? 1 : 0, freeing.culprit ?? '', CLAIMS_MAX];
  const answers = (await wire.all(everyShard(shards, (shard) => ({ name: 'free', shard, args })))) as FreeAnswer[];
  return answers.map((answer, shard) => {
    hints.learn(shard, answer);
    for (const lease of answer[3]) leases.delete(Number(lease));
    writeGivenUp(session, shard, answer[4]);
    return readLastSettled(answer[5]);
  });
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
      hints.learn(shard, answers[i]!);
      const cursor = answers[i]![3]!;
      return cursor === '0' ? [] : [{ shard, cursor }];
    });
  }
};
