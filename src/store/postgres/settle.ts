/** Ends leases: records first, then rows, in one step. */

import { StoreFault } from '../../contract/fault.ts';
import { settledOf, type Settled } from '../../contract/store.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { PageRow } from '../../model/page.ts';
import type { Destination, Settlement } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import { appendKept, keptBytes, placeOf, type Begin } from '../kept.ts';
import { joinRecords } from './batch-log.ts';
import { storeFault } from './faults.ts';
import { pagesJson } from './pages.ts';
import { robotsJson } from './robots.ts';
import { keyOf } from './schema.ts';
import { lapse, type Session } from './session.ts';
import { arrayOf, jsonOf, textsOf, type Value } from './values.ts';

/** In the order of the parameters. */
const PACE = ['dueAt', 'delayMs', 'crawlDelayMs', 'responseMs', 'failures'] as const;

export const settle = async (session: Session, settlements: readonly Settlement[]): Promise<Settled> => {
  for (const { fate, page, site } of settlements) {
    if (fate === 'settled' && page === null)
      throw new StoreFault(`a settlement of ${site} has no page`, 'report this as a bug');
  }
  if (session.broken) throw session.broken;
  const { book } = session;
  const leases = new Set<number>();
  let kept = settlements.filter(({ lease }) => book.isInForce(lease) && !leases.has(lease) && leases.add(lease));
  while (kept.length > 0) {
    const refused = await settleAll(session, kept);
    if (refused === null) break;
    kept = kept.filter((_, i) => !refused.includes(i + 1));
  }
  for (const { lease } of settlements) book.ended(lease);
  session.dueHints.forget(kept.map(({ site }) => shardOf(site, session.shards)));
  const settled = new Set(kept);
  return settledOf(settlements, (one) => settled.has(one));
};

/**
 * Records before the rows that point to them. A batch is the tail of the archive until it is answered, because the next
 * one waits for it: where one of its leases is not in force any more, the whole is cut off again, and goes in without
 * that one. Gives the places of those, from 1.
 */
const settleAll = async (session: Session, settlements: readonly Settlement[]): Promise<number[] | null> => {
  const { archive } = session;
  const before = archive.end();
  let unsure = false;
  try {
    const begins = appendKept(archive, settlements);
    logBatch(session, settlements, begins);
    // the server may be another machine: it would remember what this one forgets without power
    if (begins.some((begin) => begin !== null)) archive.sync();
    const values = valuesOf(session, settlements, begins);
    const [row] = await session.call<SettleRow>('settle', values, () => (unsure = true));
    const { refused, shut } = row!;
    if (shut) lapse(session, 'back');
    if (shut || refused) takeBack(session, before);
    else session.log.answer(++session.batch);
    return shut ? settlements.map((_, i) => i + 1) : refused;
  } catch (error) {
    // What may have been settled must not be cut: the next opening knows.
    if (unsure) session.broken = storeFault(error);
    else cutBack(session, before);
    throw storeFault(error);
  }
};

interface SettleRow {
  readonly refused: number[] | null;
  readonly shut: boolean;
}

/** On this machine before the call, whatever becomes of it: the store may remember it, or forget it later. */
const logBatch = (
  { log, archive, batch }: Session,
  settlements: readonly Settlement[],
  begins: readonly (Begin | null)[],
): void => {
  const records = begins.flatMap((begin, i) => (begin ? [{ ...begin, bytes: keptBytes(settlements[i]!).length }] : []));
  log.add({ number: batch + 1, end: archive.end(), records: joinRecords(records) });
};

/** Nothing of the batch is settled: its records go. */
const takeBack = ({ archive, log, batch }: Session, end: ArchiveEnd): void => {
  archive.cut(end);
  log.add({ number: batch + 1, end, records: [] });
};

/** After a cut that failed nothing may be appended: it would lie after bytes that belong to no page. */
const cutBack = (session: Session, end: ArchiveEnd): void => {
  try {
    takeBack(session, end);
  } catch (error) {
    session.broken = storeFault(error);
  }
};

const valuesOf = (
  { member, run, serverName, batch, book, archive, shards, at }: Session,
  settlements: readonly Settlement[],
  begins: readonly (Begin | null)[],
): Value[] => {
  const keys = settlements.map(({ site }) => keyOf(site));
  const counted: Record<string, number> = { pages: 0 };
  const pages: PageRow[] = [];
  const answered = settlements.map((settlement, i) => {
    const { fate, page } = settlement;
    if (fate !== 'settled') return 0;
    pages.push({ ...page!, ...placeOf(settlement, begins[i]!) });
    counted[`settled ${page!.outcome}`] = (counted[`settled ${page!.outcome}`] ?? 0) + 1;
    return Number(page!.outcome in ANSWERED_OUTCOMES);
  });
  counted.pages = answered.reduce((sum, one) => sum + one, 0);
  const robots = new Map(settlements.flatMap(({ robots: one }) => (one ? [[one.origin, one]] : [])));
  const fates = settlements.map(({ fate, to }) => (to ? 'moved' : fate));
  const moves = settlements.flatMap(({ to }, i) => (to ? [moveOf(keys[i]!, to, shards)] : []));
  const { file, bytes } = archive.end();
  const paces = PACE.map((part) => arrayOf(settlements.map(({ pace }) => pace[part])));
  return [
    member,
    run,
    serverName,
    batch + 1,
    file,
    bytes,
    settlements.reduce((sum, one) => sum + keptBytes(one).length, 0),
    arrayOf(keys.filter((_, i) => fates[i] === 'returned')),
    arrayOf(keys),
    textsOf(settlements.map(({ lease }) => `${book.run()}.${lease}`)),
    textsOf(fates),
    arrayOf(settlements.map(({ parked }) => parked)),
    arrayOf(answered),
    ...paces,
    pagesJson(pages),
    robotsJson([...robots.values()]),
    jsonOf(counted),
    moves.length > 0 ? jsonOf(moves) : null,
    at(),
  ];
};

/** As `settle.sql` reads it. */
const moveOf = (
  site: string | bigint,
  { queue, first, pace, parked, held = false, isNews }: Destination,
  shards: number,
): object => {
  const place = { site: String(site), id: String(keyOf(queue)), name: queue, shard: shardOf(queue, shards) };
  return { ...place, first, parked, held, isNews, ...pace };
};
