/** Leases due sites, one link each. */

import { StoreFault } from '../../contract/fault.ts';
import type { Beat } from '../../contract/journal.ts';
import type { Ask, Claimed } from '../../contract/store.ts';
import { BEAT_MS } from '../../model/pulse.ts';
import type { Visit } from '../../model/visit.ts';
import { readWaiting } from '../waiting-text.ts';
import { lapse, type Session } from './session.ts';
import { arrayOf, jsonOf } from './values.ts';

/** A visit, or when the next site of a shard is due. */
interface ClaimRow extends Omit<Visit, 'link' | 'tries' | 'lease'> {
  readonly entry: number;
  /** Null in a row that tells of a shard. */
  readonly lease: number | null;
  readonly text: string;
  readonly via: string;
  /** Null in a row that tells that the crawl is shut. */
  readonly shard: number | null;
  readonly next_due_at: number | null;
}

/** Shards are asked in turn: none is always last. */
export const claim = async (session: Session, ask: Ask, turn: number): Promise<Claimed> => {
  const { dueHints, member, run, book } = session;
  if (session.trouble !== null) return nothingYet(session);
  const rotated = ask.shards.map((_, i) => ask.shards[(turn + i) % ask.shards.length]!);
  const shards = dueHints.worthAsking(rotated, session.roughly());
  if (shards.length === 0) return { visits: [], nextDueAt: known(dueHints.next(ask.shards)), ...beatOf(session) };
  const age = dueHints.age();
  const { visits: wanted, holder, delayMs, pagesMax, sitePagesMax, leaseMs } = ask;
  const budgets = sitePagesMax.sites ? jsonOf(sitePagesMax.sites) : null;
  const limits = [delayMs, pagesMax, sitePagesMax.all, budgets, leaseMs];
  const term = book.term();
  const values = [
    member,
    run,
    session.serverName,
    book.run(),
    book.take(wanted),
    arrayOf(shards),
    wanted,
    holder,
    ...limits,
    session.at(),
  ];
  const rows = await session.call<ClaimRow>('claim', values);
  if (rows.length > 0) {
    session.heard(rows[0]!.claimedAt);
    session.entry = rows[0]!.entry;
  }
  const isShut = rows.some(({ lease, shard }) => lease === null && shard === null);
  if (isShut && session.trouble === null) lapse(session, 'back');
  if (isShut) return nothingYet(session);
  if (book.term() !== term) {
    // Leases of an earlier term: the next beat frees them.
    session.trouble ??= 'unheard';
    return nothingYet(session);
  }
  // Leases are numbered in the order in which sites were found due.
  const visits = rows.flatMap((row) => (row.lease === null ? [] : [visitOf(row)])).sort((a, b) => a.lease - b.lease);
  for (const { lease } of visits) book.given(lease, holder);
  const told = rows.filter(({ lease }) => lease === null);
  if (told.length === 0) return { visits, nextDueAt: visits.at(-1)?.claimedAt ?? null, ...beatOf(session) };
  const dueAt = new Map(told.map(({ shard, next_due_at }) => [shard!, next_due_at ?? Infinity]));
  dueHints.learn({ shards, dueAt, now: told[0]!.claimedAt, age });
  const others = dueHints.next(ask.shards.filter((shard) => !dueAt.has(shard)));
  return { visits, nextDueAt: known(Math.min(...dueAt.values(), others)), ...beatOf(session) };
};

export const beatOf = ({ entry, book }: Session): Beat => ({ entry, term: book.term() });
/** Something must be put right first, which a beat does. */
const nothingYet = (session: Session): Claimed => ({
  visits: [],
  nextDueAt: session.roughly() + BEAT_MS,
  ...beatOf(session),
});
const known = (moment: number): number | null => (moment === Infinity ? null : moment);

const visitOf = ({ text, via, shard: _shard, next_due_at: _next, entry: _entry, ...row }: ClaimRow): Visit => {
  const waiting = readWaiting(text, via, row.site);
  if (!waiting)
    throw new StoreFault(`a link of the site ${row.site} cannot be read`, 'check the crawl with "gossamer verify"');
  return { ...row, lease: row.lease!, ...waiting };
};
