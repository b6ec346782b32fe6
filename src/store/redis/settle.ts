/** Ends leases: records first, then rows, then one step per shard; what is refused is taken back. */

import { StoreFault } from '../../contract/fault.ts';
import { settledOf, type Settled } from '../../contract/store.ts';
import { withoutLongRules } from '../../model/long-rules.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { Destination, Settlement } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import { appendKept, keptBytes, placeOf, type Begin } from '../kept.ts';
import { storeFault } from '../sqlite/fault.ts';
import type { Grown } from './queue.ts';
import type { Batch, NewPart } from './rows.ts';
import type { Session } from './session.ts';
import { readPlaces, unsettledIn, withdraw } from './unsettled.ts';
import { openMoved } from './moved.ts';
import type { Answer, Step } from './wire.ts';

type SettleAnswer = readonly [moments: string, refused: string, grown: readonly Grown[]];

/** One batch at a time, or its records would not be the tail of the archive: the caller sees to it. */
export const settle = async (session: Session, settlements: readonly Settlement[]): Promise<Settled> => {
  if (session.fault) throw session.fault;
  const chosen = inForce(session, settlements);
  if (chosen.length === 0) return settledOf(settlements, () => false);
  const shards = Map.groupBy(chosen, ({ site }) => shardOf(site, session.shards));
  // Texts before the records that name them: one that stays without a record harms nobody.
  await session.wire.all(chosen.flatMap((one) => longRulesOf(session, one)));
  const run = session.book.run();
  const number = session.batch + 1;
  const batch = keep(session, { number, chosen, shards });
  session.batch = number;
  const steps = [...shards].map(
    ([shard, some]): Step => ({
      name: 'settle',
      shard,
      args: [session.hints.stamp(shard), number, JSON.stringify(some.map((one) => toText(one, run)))],
    }),
  );
  const answers = await answersTo(session, steps);
  const settled = new Set<Settlement>();
  let fault: StoreFault | null = null;
  const refused = new Map<number, ReadonlySet<number>>();
  for (const [i, [shard, some]] of [...shards].entries()) {
    const answer = answers[i]!;
    if (answer.kind === 'refused') {
      // Nothing of this shard happened: its leases are in force, and can be settled again.
      fault ??= answer.fault;
      refused.set(shard, new Set(some.map((_, at) => at + 1)));
      continue;
    }
    const value = answer.value as SettleAnswer;
    if (value[1] === '-1')
      throw (session.fault = new StoreFault(
        `another process settles for the member "${session.member}"`,
        'give each process its own directory',
      ));
    session.hints.learn(shard, value[0]);
    session.queue.notice(shard, value[2]);
    // Where the shard went back in time, no lease is in force any more.
    const places = value[1] === '-2' ? new Set(some.map((_, at) => at + 1)) : readPlaces(value[1]);
    refused.set(shard, places);
    some.forEach((one, at) => void (places.has(at + 1) || settled.add(one)));
    for (const { lease } of some) session.book.ended(lease);
  }
  if (batch) putRight(session, batch, refused);
  if (fault) throw fault;
  return settledOf(settlements, (one) => settled.has(one));
};

/** A shard that has only moved to another node of a cluster is asked again: its leases are in force. */
const answersTo = async (session: Session, steps: readonly Step[]): ReturnType<Session['wire']['each']> => {
  const { wire, hints } = session;
  const answers = await wire.each(steps);
  const shut = answers.flatMap((answer, i) => (isShut(answer) ? [i] : []));
  if (shut.length === 0 || wire.masters().length === 0) return answers;
  for (const i of shut) hints.doubt(steps[i]!.shard!);
  await openMoved(session);
  const opened = shut.filter((i) => !hints.shut.has(steps[i]!.shard!));
  const again = await wire.each(opened.map((i) => steps[i]!));
  again.forEach((answer, i) => (answers[opened[i]!] = answer));
  return answers;
};

const isShut = (answer: Answer): boolean => answer.kind === 'answered' && (answer.value as SettleAnswer)[1] === '-2';

/** What was refused is taken back; then the settled part of the archive ends where the batch does. */
const putRight = (session: Session, batch: Batch, refused: ReadonlyMap<number, ReadonlySet<number>>): void => {
  const unsettled = unsettledIn(batch, ({ shard, place }) => refused.get(shard)!.has(place));
  session.end = unsettled.end;
  try {
    withdraw(session, batch, unsettled, (end) => session.archive.cut(end));
  } catch (error) {
    throw (session.fault = storeFault(error));
  }
};

const longRulesOf = ({ shards }: Session, { site, robots }: Settlement): Step[] => {
  const long = robots && withoutLongRules(robots).long;
  return long ? [{ name: 'keep-rules', shard: shardOf(site, shards), args: [long.digest, long.text] }] : [];
};

/** Also those whose lease is void have ended, and with them their visits. */
const inForce = ({ book }: Session, settlements: readonly Settlement[]): Settlement[] => {
  const met = new Set<number>();
  return settlements.filter(({ lease, fate, page, site }) => {
    if (fate === 'settled' && page === null)
      throw new StoreFault(`a settlement of ${site} has no page`, 'report this as a bug');
    if (met.has(lease)) return false;
    if (!book.isInForce(lease)) {
      book.ended(lease);
      return false;
    }
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
const keep = ({ archive, rows }: Session, { number, chosen, shards }: Chosen): Batch | null => {
  const where = new Map(
    [...shards].flatMap(([shard, some]) => some.map((settlement, i) => [settlement, { shard, place: i + 1 }] as const)),
  );
  const before = archive.end();
  const begins = appendRecords(archive, chosen);
  const parts = chosen.flatMap((settlement, i): NewPart[] => {
    const begin = begins[i] ?? null;
    const page = settlement.fate === 'settled' ? settlement.page : null;
    if (!begin && !page) return [];
    const records = begin && { ...begin, bytes: keptBytes(settlement).length };
    return [{ ...where.get(settlement)!, records, page: page && { ...page, ...placeOf(settlement, begin) } }];
  });
  if (parts.length === 0) return null;
  try {
    return rows.write({ number, before, end: archive.end() }, parts);
  } catch (error) {
    archive.cut(before);
    throw storeFault(error);
  }
};

/** Where the records of each settlement begin; null for one without. */
const appendRecords = (archive: Session['archive'], settlements: readonly Settlement[]): readonly (Begin | null)[] => {
  const before = archive.end();
  try {
    const begins = appendKept(archive, settlements);
    // Redis may be another machine: it would remember what this one forgets without power
    if (begins.some((begin) => begin !== null)) archive.sync();
    return begins;
  } catch (cause) {
    archive.cut(before);
    if (cause instanceof StoreFault) throw cause;
    const { advice = 'see that its disk has room' } = cause as { advice?: string };
    throw new StoreFault('the archive took no records', advice, cause);
  }
};

/** A settlement as the step reads it: without the texts of its page. */
const toText = (settlement: Settlement, run: string): readonly (string | number | readonly (string | number)[])[] => {
  const { site, lease, fate, pace, parked, robots, page, to } = settlement;
  const outcome = fate === 'settled' ? page!.outcome : '';
  const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = pace;
  const isAnswered = Object.hasOwn(ANSWERED_OUTCOMES, outcome);
  return [
    ...[site, `${run}.${lease}`, fate, dueAt, delayMs, crawlDelayMs, responseMs, failures, parked ? 1 : 0],
    ...[outcome, isAnswered ? 1 : 0, keptBytes(settlement).length],
    ...(robots ? [robots.origin, JSON.stringify(withoutLongRules(robots).record)] : ['', '']),
    ...(to ? [destinationText(to)] : []),
  ];
};

const destinationText = ({ queue, first, pace, parked, held, isNews }: Destination): readonly (string | number)[] => {
  const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = pace;
  const paced = [dueAt, delayMs, crawlDelayMs, responseMs, failures];
  return [queue, Number(first), ...paced, parked ? 1 : held ? 2 : 0, Number(isNews)];
};
