/** The state of the crawl, summed over the counters of all shards. */

import { SITES_DUE_COUNTED_MAX, type ArchiveEnd, type Census } from '../../model/census.ts';
import type { OutcomeName } from '../../model/outcome.ts';
import { everyShard, pairs, reading, type Step, type Wire } from './wire.ts';

type ShardAnswer = readonly [
  now: string,
  counters: readonly string[],
  due: number,
  next: string,
  dueAt: string,
  failures: string,
  isSameServer: number,
];

export interface CensusParts {
  readonly wire: Wire;
  readonly shards: number;
  readonly end: ArchiveEnd;
  /** Told of a shard whose server is another one: it may have forgotten something. */
  readonly onOther?: (shard: number) => void;
}

/** At that time, or at the store's. */
export const census = async (parts: CensusParts, at?: number): Promise<Census> => {
  const { wire, shards, end } = parts;
  const time = at === undefined ? {} : { at };
  const steps = everyShard(shards, (shard): Step => ({ name: 'census', shard, args: [], ...time }));
  const [[meta], ...answers] = (await wire.all([reading(null, [['HGETALL', 'meta']]), ...steps])) as [
    [string[]],
    ...ShardAnswer[],
  ];
  for (const [shard, answer] of answers.entries()) {
    if (answer[6] === 0 && Number(new Map(pairs(answer[1])).get('changes') ?? 0) > 0) parts.onOther?.(shard);
  }
  const sums = new Map<string, number>();
  const sum = (field: string): number => sums.get(field) ?? 0;
  const now = Math.max(...answers.map(([then]) => Number(then)));
  let moment = 0;
  let next: Census['next'] = null;
  for (const [, counters, , site, dueAt, failures] of answers) {
    for (const [field, value] of pairs(counters)) {
      if (field === 'moment') moment = Math.max(moment, Number(value));
      sums.set(field, sum(field) + Number(value));
    }
    if (site !== '' && (next === null || Number(dueAt) < next.dueAt))
      next = { site, dueAt: Number(dueAt), failures: Number(failures) };
  }
  // A clock that was set back does not set back the crawl.
  if (moment > now) return census(parts, moment);
  const ofCrawl = pairs(meta).map(([name, value]) => [name, Number(value)] as const);
  const sitesDue = answers.reduce((all, [, , due]) => all + due, 0);
  return {
    now,
    waiting: sum('waiting'),
    leased: sum('leased'),
    parked: sum('parked'),
    held: sum('held'),
    settled: named([...sums], 'settled:') satisfies Partial<Record<OutcomeName, number>>,
    forgotten: sum('forgotten'),
    pages: sum('pages'),
    sites: { known: sum('sites'), parked: sum('sitesParked'), held: sum('sitesHeld') },
    sitesDue: Math.min(sitesDue, SITES_DUE_COUNTED_MAX),
    next: sitesDue > 0 ? null : next,
    changes: sum('changes') + (new Map(ofCrawl).get('changes') ?? 0),
    archive: end,
    archivedBytes: sum('archived'),
    marks: named(ofCrawl, 'mark:'),
  };
};

/** Counters whose name begins so, by the rest of their name. */
const named = (fields: readonly (readonly [string, number])[], prefix: string): Record<string, number> =>
  Object.fromEntries(
    fields.flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])),
  );
