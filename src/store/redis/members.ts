/** Who takes part in the crawl, as its members said themselves. */

import type { MemberAbout, MemberView } from '../../contract/journal.ts';
import { DEAD_AFTER_MS } from '../../model/pulse.ts';
import { readLastSettled } from './unsettled.ts';
import { everyShard, pairs, reading, type Wire } from './wire.ts';

type MembersAnswer = readonly [now: string, records: readonly string[], about: readonly string[]];

export const membersOf = async (wire: Wire, shards: number): Promise<MemberView[]> => {
  const batches = everyShard(shards, (shard) => reading(shard, [['HGETALL', 'batch']]));
  const [[now, records, about], ...answers] = (await wire.all([
    { name: 'members', shard: null, args: [] },
    ...batches,
  ])) as [MembersAnswer, ...[string[]][]];
  const settled = new Map<string, number>();
  for (const [flat] of answers)
    for (const [member, text] of pairs(flat))
      settled.set(member, (settled.get(member) ?? 0) + readLastSettled(text).settled);
  const says = new Map(pairs(about).map(([member, text]) => [member, JSON.parse(text) as MemberAbout]));
  return pairs(records)
    .map(([member, record]) => {
      const [place, seenAt] = record.split(' ').map(Number);
      return { member, place: place!, seenAt: seenAt! };
    })
    .sort((a, b) => a.place - b.place)
    .map(({ member, seenAt }) => ({
      member,
      seenAt,
      isLive: Number(now) - seenAt < DEAD_AFTER_MS,
      settled: settled.get(member) ?? 0,
      about: says.get(member) ?? null,
    }));
};
