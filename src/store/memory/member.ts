/**
 * One of several processes that share a crawl in memory: the reference for what members of a shared store do.
 *
 * The state may go back in time, as when a replica that lags takes over; who does that to it gives the server another
 * name. While the crawl does not know the server by its name it is shut: nothing is claimed or settled. Each member
 * then ends its visits, forgets what the store forgot, sends again what it sent lately, and says that it is ready.
 */

import type { Archive } from '../../archive/archive.ts';
import type { Beat, MemberAbout, MemberView } from '../../contract/journal.ts';
import type { DeadRecords } from '../../contract/walk.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../../model/pulse.ts';
import { createAdmittedLately, type AdmittedLately } from '../shared/admitted.ts';
import { createLeaseBook, type LeaseBook } from '../shared/lease-book.ts';
import type { Lease, MemberRecord, MemoryState } from './state.ts';

export interface MemberOptions {
  readonly name: string;
  /** The name of the server that the state lies on now. */
  readonly server: () => string;
  /** Is told of bytes in the archive that belong to no page; may be told twice. */
  readonly dead: (records: readonly DeadRecords[]) => void;
  readonly about?: MemberAbout;
  /** Links remembered to be sent again, at the most. */
  readonly admittedMax?: number;
}

export interface MemberParts {
  readonly state: MemoryState;
  readonly clock: Clock;
  readonly archive: Archive;
  /** Frees the leases that are chosen. */
  readonly free: (isChosen: (lease: Lease) => boolean, counted: boolean) => void;
  readonly admit: (batch: ReturnType<AdmittedLately['batches']>[number]) => void;
}

export interface Member {
  readonly name: string;
  readonly book: LeaseBook;
  readonly lately: AdmittedLately;
  /** What the crawl knows of this member. */
  record(): MemberRecord;
  /** Whether claims are answered and settlements taken: the crawl is in order, and so is this member in it. */
  isInOrder(): boolean;
  beat(): Beat;
}

/** Opening ends what the former process of this member left. */
export const openMember = (options: MemberOptions, parts: MemberParts): Member => {
  const { name, server } = options;
  const { state, clock } = parts;
  const book = createLeaseBook();
  const lately = createAdmittedLately(clock.now, options.admittedMax);
  const record = (): MemberRecord => {
    const known = state.members.get(name);
    if (known) return known;
    const about = options.about ?? null;
    const made: MemberRecord = {
      seenAt: 0,
      isFreed: false,
      settled: 0,
      about,
      end: { file: '', bytes: 0 },
      server: '',
    };
    state.members.set(name, made);
    return made;
  };
  /** The server that this member has put its part in order on. */
  let inOrderOn = '';
  let heardAt = clock.now();
  let isLapsed = false;

  const putInOrder = (counted: boolean): void => {
    const mine = record();
    if (mine.server !== server()) {
      // What the store forgot this member forgets, too; never cut: more than the last batch may be concerned.
      const records = recordsAfter(mine.end, parts.archive);
      if (records) options.dead([records]);
      mine.end = parts.archive.end();
      for (const batch of lately.batches()) parts.admit(batch);
    }
    parts.free((lease) => lease.member === name && lease.run !== book.run(), counted);
    mine.server = inOrderOn = server();
    isLapsed = false;
  };

  state.server ??= server();
  Object.assign(record(), { seenAt: clock.now(), isFreed: false, about: options.about ?? null });
  // What lies after the settled end belongs to settlements that were never answered.
  if (record().server === server()) parts.archive.cut(record().end);
  putInOrder(true);

  return {
    name,
    book,
    lately,
    record,
    // One that was taken for dead has to be heard first: what it leased before that would be freed by nobody.
    isInOrder: () => !isLapsed && !record().isFreed && inOrderOn === server() && state.server === server(),
    beat: () => {
      const now = clock.now();
      if (!isLapsed && (inOrderOn !== server() || now - heardAt > LAPSED_AFTER_MS)) {
        isLapsed = true;
        book.lapse();
      }
      heardAt = now;
      Object.assign(record(), { seenAt: now, isFreed: false });
      if (state.server !== server() && state.shut.server !== server()) state.shut = { server: server(), at: now };
      if (isLapsed && book.isQuiet()) putInOrder(false);
      buryDead(parts, now);
      openAgain(state, { server: server(), now });
      return { entry: state.journal.length, term: book.term() };
    },
  };
};

const recordsAfter = (settled: ArchiveEnd, archive: Archive): DeadRecords | null => {
  const end = archive.end();
  if (end.bytes === settled.bytes) return null;
  if (settled.file !== '' && settled.file !== end.file) throw new Error('an archive in memory is one file');
  return { file: end.file, offset: settled.bytes, bytes: end.bytes - settled.bytes };
};

/** When all of a member's visits have ended, by its own rule, it is dead to the others. */
const isDead = ({ seenAt }: MemberRecord, now: number): boolean => now - seenAt >= DEAD_AFTER_MS;

/** What the crawl knew of its members may be older than it seems: counted from when it was found to have gone back. */
const buryDead = ({ state, free }: MemberParts, now: number): void => {
  if (now - state.shut.at < DEAD_AFTER_MS) return;
  for (const [name, one] of state.members) {
    if (one.isFreed || !isDead(one, now)) continue;
    free((lease) => lease.member === name, true);
    one.isFreed = true;
  }
};

/** Not before a member that the crawl has forgotten altogether must have ended its visits, too. */
const openAgain = (state: MemoryState, { server, now }: { server: string; now: number }): void => {
  if (state.server === server || now - state.shut.at < DEAD_AFTER_MS) return;
  if (state.members.values().some((one) => !isDead(one, now) && one.server !== server)) return;
  state.server = server;
  state.floor = now;
};

export const membersOf = ({ members }: MemoryState, now: number): MemberView[] =>
  [...members].map(([member, one]) => {
    const { seenAt, settled, about } = one;
    return { member, seenAt, isLive: !isDead(one, now), settled, about };
  });
