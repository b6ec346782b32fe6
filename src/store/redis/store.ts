/**
 * A crawl in Redis: shared by processes and machines, on one server or a cluster. Page rows and records stay with the
 * member that fetched them.
 */

import { randomInt } from 'node:crypto';
import type { Settled } from '../../contract/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';
import type { Settlement } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import { PAGES_DB, pathOf } from '../files.ts';
import type { OpenedStore, StoreOptions } from '../options.ts';
import { createAdmittedLately } from '../shared/admitted.ts';
import { createLeaseBook, type LeaseBook } from '../shared/lease-book.ts';
import { beat, firstBeat } from './beat.ts';
import { census } from './census.ts';
import { claim } from './claim.ts';
import { connectRedis } from './connect.ts';
import { closedFault } from './faults.ts';
import type { FilesLimits } from './files/limits.ts';
import { openFilesQueue } from './files/queue.ts';
import { createHints } from './hints.ts';
import { readEntries } from './journal.ts';
import { createKeys } from './keys.ts';
import { beginCrawl } from './layout.ts';
import { openStoreQueue } from './queue-store.ts';
import { NO_END } from './read-pages.ts';
import { rulesText } from './read-robots.ts';
import { openRows } from './rows.ts';
import { forgetRows, keepEpochs, meetEpochs, toLink } from './put-right.ts';
import { noteEntries, type LeaseSession, type Session } from './session.ts';
import { settle } from './settle.ts';
import { free, steer } from './steer.ts';
import { unsettledOf, withdraw } from './unsettled.ts';
import { createWire, type Wire } from './wire.ts';

/** About 20 MiB of log between two checkpoints, as in the embedded store. */
const CHECKPOINT_ROWS = 5_000;

/** Frees the leases of this member, counted: its former process is dead. Tests hand in limits for links in files. */
export const openRedisStore = async (
  options: StoreOptions,
  limits: Partial<FilesLimits> = {},
): Promise<OpenedStore> => {
  const keys = createKeys(options.crawl, options.member);
  const connected = await connectRedis(options.url);
  for (const warning of connected.warnings) options.say(warning);
  const wire = createWire({ ...connected, ...options, keys });
  const opened: { close(): unknown }[] = [wire];
  try {
    const { member, shards, frontier } = options;
    await beginCrawl(wire, options);
    const clock = await clockOf(wire, options);
    const hints = createHints(shards, clock);
    const parts = { wire, hints, shards };
    const rows = openRows(pathOf(options, PAGES_DB));
    opened.push(rows);
    const queue = frontier === 'files' ? await openFilesQueue(parts, options, limits) : openStoreQueue(parts);
    opened.push(queue);
    const session = await openSession(options, { ...parts, member, rows, queue, book: bookOfRun() });
    opened.push(session.archive);
    await firstBeat(session, options.about ?? null);
    return storeOf(session, clock);
  } catch (error) {
    for (const one of opened) await one.close();
    throw error;
  }
};

/** So many numbers are there to begin with: those of two runs of a member hardly ever meet, in a log or a test. */
const FIRST_LEASE_MAX = 2 ** 40;

const bookOfRun = (): LeaseBook => {
  const book = createLeaseBook();
  book.take(randomInt(FIRST_LEASE_MAX));
  return book;
};

const clockOf = async (wire: Wire, { clock, shards }: StoreOptions): Promise<Clock | null> => {
  if (clock === null) return null;
  // Asked for the beginning of time, a census is of the last moment that was recorded.
  const mine = clock((await census({ wire, shards, end: NO_END }, 0)).now);
  wire.follow(mine);
  return mine;
};

/** What the process before this one appended and wrote, but Redis did not settle, is taken back first. */
const openSession = async (options: StoreOptions, parts: LeaseSession): Promise<Session> => {
  const { archive, dead, say } = options;
  const { rows, hints } = parts;
  const settled = await free(parts, { holder: '', counted: true, culprit: null });
  const last = rows.last();
  const unsettled = last && unsettledOf(last, settled);
  // The archive is cut when it is opened.
  if (unsettled) withdraw({ rows, dead }, last, unsettled, () => {});
  const end = unsettled?.end ?? NO_END;
  const batch = Math.max(last?.number ?? 0, ...[...settled.values()].map(({ number }) => number));
  const session: Session = {
    ...parts,
    ...{ archive: archive(end), dead, say, turn: 0, batch, end, fault: null, inTurn: createTurns() },
    ...{ voids: [], claims: 0, beatAtMs: hints.now(), entry: 0, entries: new Map(), upkeep: null, touched: 0, tick: 0 },
    ...{ lately: createAdmittedLately(hints.now), mending: new Map(), opened: new Set(), forgotSince: null },
  };
  await meetEpochs(session);
  // More than the last batch is missing in Redis: it went back in time while this member was not there.
  const forgotten = forgetRows(session, settled);
  if (forgotten.length > 0) await session.queue.admit(forgotten.map(toLink), null);
  return session;
};

/** One after the other. */
const createTurns = (): Session['inTurn'] => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
};

/** While a shard is shut it may lack links that a member will send again: no two censuses are the same then. */
const censusOf = async (session: Session): Promise<Census> => {
  const { hints } = session;
  const now = await census({ ...session, onOther: hints.doubt });
  return hints.shut.size > 0 ? { ...now, changes: Number.NaN } : now;
};

const storeOf = (session: Session, clock: Clock | null): OpenedStore => {
  const { wire, queue, archive, rows } = session;
  let rowsInLog = 0;
  const whileOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!wire.isOpen()) throw closedFault();
    return work();
  };
  /** One batch at a time: only then are its records the tail of the archive until it is answered. */
  const settleInTurn = (settlements: readonly Settlement[]): Promise<Settled> =>
    session.inTurn(() =>
      whileOpen(async () => {
        if (rowsInLog >= CHECKPOINT_ROWS) checkpoint();
        rowsInLog += settlements.length;
        return settle(session, settlements);
      }),
    );
  /** Records before the rows that point to them, on disk too. */
  const checkpoint = (): void => {
    archive.sync();
    rows.checkpoint();
    rowsInLog = 0;
  };
  return {
    forgotSince: session.forgotSince,
    rereadDone: () => {
      session.forgotSince = null;
      keepEpochs(session);
    },
    admit: (links, siteWaitingMax = null) =>
      whileOpen(() => {
        session.lately.note(links, siteWaitingMax);
        return queue.admit(links, siteWaitingMax);
      }),
    claim: (ask) => whileOpen(() => claim(session, ask)),
    settle: settleInTurn,
    steer: (changes) => whileOpen(() => steer(session, changes)),
    census: () => whileOpen(() => censusOf(session)),
    beat: () => whileOpen(() => beat(session)),
    journal: (after) =>
      whileOpen(async () => {
        const entries = await readEntries(wire, after);
        noteEntries(session, entries);
        return entries;
      }),
    rules: (digest, site) => whileOpen(() => rulesText(wire, shardOf(site, session.shards), digest)),
    time: () => whileOpen(async () => clock?.now() ?? serverTime(wire)),
    close: async () => {
      if (!wire.isOpen()) return;
      wire.close();
      await session.inTurn(async () => {});
      await session.upkeep?.catch(() => {});
      await queue.close();
      archive.close();
      rows.close();
    },
  };
};

const serverTime = async (wire: Wire): Promise<number> => {
  const asked = performance.now();
  const [[now]] = (await wire.all([{ name: 'census', shard: 0, args: [] }])) as [[string]];
  // Half of the way is the way back.
  return Number(now) + (performance.now() - asked) / 2;
};
