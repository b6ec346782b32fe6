/** Ends leases: records first, then rows, then one step per shard; what is refused is taken back. */

import { settledOf, StoreFault, type Settled } from '../../frontier/store.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { Settlement } from '../../model/settlement.ts';
import { appendKept, keptBytes, placeOf, type Begin } from '../kept.ts';
import { byShard, learn, type Book } from './book.ts';
import { drop } from './drop.ts';
import type { Batch, NewPart } from './rows.ts';
import { storeFault } from '../sqlite/fault.ts';
import type { Call } from './wire.ts';

/** One batch at a time, or its records would not be the tail of the archive: the caller sees to it. */
export const settle = async (book: Book, settlements: readonly Settlement[]): Promise<Settled> => {
  if (book.fault) throw book.fault;
  const chosen = inForce(book, settlements);
  if (chosen.length === 0) return settledOf(settlements, () => false);
  const shards = byShard(book, chosen);
  const number = book.batch + 1;
  const batch = keep(book, { number, chosen, shards });
  book.batch = number;
  const more = book.frontier ? [book.frontier.limits.referencesMax, book.frontier.limits.blockLinesMax] : [];
  const calls = [...shards].map(
    ([shard, some]): Call => ({ name: 'settle', shard, args: [number, JSON.stringify(some.map(toText)), ...more] }),
  );
  const answers = await book.wire.each(calls);
  const settled = new Set<Settlement>();
  let fault: StoreFault | null = null;
  const refused = new Map<number, ReadonlySet<number>>();
  for (const [i, answer] of answers.entries()) {
    const { shard } = calls[i]!;
    const some = shards.get(shard)!;
    if (answer.kind === 'refused') {
      // Nothing of this shard happened: its leases are in force, and can be settled again.
      fault ??= answer.fault;
      refused.set(shard, new Set(some.map((_, at) => at + 1)));
      continue;
    }
    const value = answer.value as [string, string, string, string, string[]?];
    if (value[3] === '-1')
      throw (book.fault = new StoreFault(
        `another process settles for the member "${book.member}"`,
        'give each process its own directory',
      ));
    learn(book, shard, value);
    if (value[4]) book.tending?.notice(shard, value[4]);
    const places = readPlaces(value[3]);
    refused.set(shard, places);
    some.forEach((one, at) => void (places.has(at + 1) || settled.add(one)));
    for (const { lease } of some) book.leases.delete(lease);
  }
  if (batch) putRight(book, batch, refused);
  if (fault) throw fault;
  return settledOf(settlements, (one) => settled.has(one));
};

/** What was refused is taken back; then the settled part of the archive ends where the batch does. */
const putRight = (book: Book, batch: Batch, refused: ReadonlyMap<number, ReadonlySet<number>>): void => {
  try {
    drop(book, batch, ({ shard, place }) => refused.get(shard)!.has(place));
  } catch (error) {
    throw (book.fault = storeFault(error));
  }
};

/** The numbers of what a shard refused, as it writes them. */
export const readPlaces = (text: string): ReadonlySet<number> =>
  new Set(text === '' ? [] : text.split(',').map(Number));

const inForce = (book: Book, settlements: readonly Settlement[]): Settlement[] => {
  const met = new Set<number>();
  return settlements.filter(({ lease, fate, page, site }) => {
    if (fate === 'settled' && page === null)
      throw new StoreFault(`a settlement of ${site} has no page`, 'report this as a bug');
    if (!book.leases.has(lease) || met.has(lease)) return false;
    met.add(lease);
    return true;
  });
};

interface Chosen {
  readonly number: number;
  readonly chosen: readonly Settlement[];
  readonly shards: ReadonlyMap<number, readonly Settlement[]>;
}

/**
 * Appends the records and writes the rows; null when there are neither. All of it happened when this returns, or
 * nothing.
 */
const keep = (book: Book, { number, chosen, shards }: Chosen): Batch | null => {
  const where = new Map(
    [...shards].flatMap(([shard, some]) => some.map((settlement, i) => [settlement, { shard, place: i + 1 }] as const)),
  );
  const before = book.archive.end();
  const begins = appendRecords(book, chosen);
  const parts = chosen.flatMap((settlement, i): NewPart[] => {
    const begin = begins[i] ?? null;
    const page = settlement.fate === 'settled' ? settlement.page : null;
    if (!begin && !page) return [];
    const records = begin && { ...begin, bytes: keptBytes(settlement).length };
    return [{ ...where.get(settlement)!, records, page: page && { page, place: placeOf(settlement, begin) } }];
  });
  if (parts.length === 0) return null;
  try {
    return book.rows.write({ number, before, end: book.archive.end() }, parts);
  } catch (error) {
    book.archive.cut(before);
    throw storeFault(error);
  }
};

/** Where the records of each settlement begin; null for one without. */
const appendRecords = (book: Book, settlements: readonly Settlement[]): readonly (Begin | null)[] => {
  const before = book.archive.end();
  try {
    const begins = appendKept(book.archive, settlements);
    // Redis may be another machine: it would remember what this one forgets without power
    if (begins.some((begin) => begin !== null)) book.archive.sync();
    return begins;
  } catch (cause) {
    book.archive.cut(before);
    if (cause instanceof StoreFault) throw cause;
    throw new StoreFault(
      'the archive took no records',
      (cause as { advice?: string }).advice ?? 'see that its disk has room',
      cause,
    );
  }
};

/** A settlement as the script reads it: without the texts of its page. */
const toText = (settlement: Settlement): readonly (string | number)[] => {
  const { site, lease, fate, pace, parked, robots, page } = settlement;
  const outcome = fate === 'settled' ? page!.outcome : '';
  return [
    site,
    lease,
    fate,
    pace.dueAt,
    pace.delayMs,
    pace.crawlDelayMs,
    pace.responseMs,
    pace.failures,
    parked ? 1 : 0,
    outcome,
    Object.hasOwn(ANSWERED_OUTCOMES, outcome) ? 1 : 0,
    keptBytes(settlement).length,
    robots?.origin ?? '',
    robots ? JSON.stringify(robots) : '',
  ];
};
