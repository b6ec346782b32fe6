/** The state of the crawl, summed over the counters of all shards. */

import { SITES_DUE_COUNTED_MAX, type Census } from '../../model/census.ts';
import type { OutcomeName } from '../../model/outcome.ts';
import type { Book } from './book.ts';
import type { Call } from './wire.ts';

type ShardAnswer = readonly [
  now: string,
  counters: readonly string[],
  due: number,
  next: string,
  dueAt: string,
  failures: string,
];

const SETTLED = 'settled:';
const MARK = 'mark:';

export const census = async (book: Pick<Book, 'wire' | 'shards' | 'end'>): Promise<Census> => {
  const shards = Array.from({ length: book.shards }, (_, shard): Call => ({ name: 'census', shard, args: [] }));
  const [meta, ...answers] = (await book.wire.all([{ name: 'meta', shard: 0, args: [] }, ...shards])) as [
    [string, string[]],
    ...ShardAnswer[],
  ];
  const sums = new Map<string, number>();
  const sum = (field: string): number => sums.get(field) ?? 0;
  const settled: Partial<Record<OutcomeName, number>> = {};
  let sitesDue = 0;
  let next: Census['next'] = null;
  for (const [, counters, due, site, dueAt, failures] of answers) {
    for (const [field, value] of pairs(counters)) sums.set(field, sum(field) + Number(value));
    sitesDue += due;
    if (site !== '' && (next === null || Number(dueAt) < next.dueAt))
      next = { site, dueAt: Number(dueAt), failures: Number(failures) };
  }
  for (const [field, value] of sums)
    if (field.startsWith(SETTLED)) settled[field.slice(SETTLED.length) as OutcomeName] = value;
  const ofCrawl = new Map(pairs(meta[1]));
  return {
    now: Number(meta[0]),
    waiting: sum('waiting'),
    leased: sum('leased'),
    parked: sum('parked'),
    held: sum('held'),
    settled,
    forgotten: sum('forgotten'),
    pages: sum('pages'),
    sites: { known: sum('sites'), parked: sum('sitesParked'), held: sum('sitesHeld') },
    sitesDue: Math.min(sitesDue, SITES_DUE_COUNTED_MAX),
    next: sitesDue > 0 ? null : next,
    changes: sum('changes') + Number(ofCrawl.get('changes') ?? 0),
    archive: book.end,
    archivedBytes: sum('archived'),
    marks: Object.fromEntries(
      [...ofCrawl]
        .filter(([name]) => name.startsWith(MARK))
        .map(([name, value]) => [name.slice(MARK.length), Number(value)]),
    ),
  };
};

/** What Redis answers as name and value in turn. */
export const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
