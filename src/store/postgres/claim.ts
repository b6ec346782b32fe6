/** Leases due sites, one link each. */

import { StoreFault } from '../../contract/fault.ts';
import type { Ask, Claimed } from '../../contract/store.ts';
import type { Visit } from '../../model/visit.ts';
import { readWaiting } from '../waiting-text.ts';
import type { Session } from './session.ts';
import { arrayOf, jsonOf } from './values.ts';

/** A visit, or when the next site of a shard is due. */
interface ClaimRow extends Omit<Visit, 'link' | 'tries' | 'lease'> {
  /** Null in a row that tells of a shard. */
  readonly lease: number | null;
  readonly text: string;
  readonly via: string;
  readonly shard: number;
  readonly next_due_at: number | null;
}

/** Shards are asked in turn: none is always last. */
export const claim = async (session: Session, ask: Ask, turn: number): Promise<Claimed> => {
  const { dueHints, server, member, run } = session;
  const rotated = ask.shards.map((_, i) => ask.shards[(turn + i) % ask.shards.length]!);
  const shards = dueHints.worthAsking(rotated, session.roughly());
  if (shards.length === 0) return { visits: [], nextDueAt: known(dueHints.next(ask.shards)) };
  const age = dueHints.age();
  const { visits: wanted, holder, delayMs, pagesMax, sitePagesMax, leaseMs } = ask;
  const budgets = sitePagesMax.sites ? jsonOf(sitePagesMax.sites) : null;
  const limits = [delayMs, pagesMax, sitePagesMax.all, budgets, leaseMs];
  const values = [member, run, arrayOf(shards), wanted, holder, ...limits, session.at()];
  const rows = await server.call<ClaimRow>('claim', values);
  if (rows.length > 0) session.heard(rows[0]!.claimedAt);
  // Leases are numbered in the order in which sites were found due.
  const visits = rows.flatMap((row) => (row.lease === null ? [] : [visitOf(row)])).sort((a, b) => a.lease - b.lease);
  const told = rows.filter(({ lease }) => lease === null);
  if (told.length === 0) return { visits, nextDueAt: visits.at(-1)?.claimedAt ?? null };
  const dueAt = new Map(told.map(({ shard, next_due_at }) => [shard, next_due_at ?? Infinity]));
  dueHints.learn({ shards, dueAt, now: told[0]!.claimedAt, age });
  const others = dueHints.next(ask.shards.filter((shard) => !dueAt.has(shard)));
  return { visits, nextDueAt: known(Math.min(...dueAt.values(), others)) };
};

const known = (moment: number): number | null => (moment === Infinity ? null : moment);

const visitOf = ({ text, via, shard: _shard, next_due_at: _next, ...row }: ClaimRow): Visit => {
  const waiting = readWaiting(text, via, row.site);
  if (!waiting)
    throw new StoreFault(`a link of the site ${row.site} cannot be read`, 'check the crawl with "gossamer verify"');
  return { ...row, lease: row.lease!, ...waiting };
};
