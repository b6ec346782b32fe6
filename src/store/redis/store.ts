/**
 * A crawl in Redis: shared by processes and machines, on one server or a cluster. Page rows and records stay with the
 * member that fetched them.
 */

import { StoreFault, type Archive, type Settled, type Store } from '../../frontier/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { Settlement } from '../../model/settlement.ts';
import type { FrontierPlace } from '../../model/settings.ts';
import { createFilesAdmit } from './admit-files.ts';
import { admit } from './admit.ts';
import type { DeadRecords } from '../shared-crawl.ts';
import { createHints, type Book } from './book.ts';
import { census } from './census.ts';
import { claim } from './claim.ts';
import { connectRedis } from './connect.ts';
import { readLastSettled, unsettledOf } from './doubt.ts';
import { closedFault } from './faults.ts';
import { bindFrontier, openFrontier, type Frontier } from './frontier.ts';
import { createKeys } from './keys.ts';
import { checkLayout, checkWhole, LAYOUT, readLayout } from './layout.ts';
import { FRONTIER_LIMITS, type FrontierLimits } from './limits.ts';
import { openRows, type Rows } from './rows.ts';
import { settle } from './settle.ts';
import { FILE_SCRIPTS, SCRIPTS } from './scripts/all.ts';
import { free, steer } from './steer.ts';
import { tendFrontier } from './tend.ts';
import { createWire, type Wire } from './wire.ts';

/** About 20 MiB of log between two checkpoints, as in the embedded store. */
const CHECKPOINT_ROWS = 5_000;

export interface RedisStoreOptions {
  /** redis://user:password@host:port/database, rediss:// for TLS; of a cluster any node. */
  readonly url: string;
  /** Name of the crawl: all its keys begin with it. */
  readonly crawl: string;
  /** Id of this directory, which one process has open; its archive and page rows are its own. */
  readonly member: string;
  readonly shards: number;
  /** The database with this member's page rows. */
  readonly rowsPath: string;
  /** The archive, cut to where its settled part ends. */
  readonly archive: (settled: ArchiveEnd) => Archive;
  /** Is told of bytes in the archive that belong to no page; may be told twice. */
  readonly dead: (records: readonly DeadRecords[]) => void;
  /** Null for the server's time, which crawls use. */
  readonly clock: Clock | null;
  /** For people: the server is gone, is back, keeps nothing. */
  readonly say: (message: string) => void;
  /**
   * Where lines of waiting links lie: in Redis, or in files beside the rows. Fixed for a crawl; with files only this
   * member can work on it.
   */
  readonly frontier?: FrontierPlace;
  readonly frontierLimits?: Partial<FrontierLimits>;
}

export interface RedisStore extends Store {
  /** The server's time now, as near as a round trip can tell. */
  time(): Promise<number>;
}

/** Opening frees the leases of this member, counted: its former process is dead. */
export const openRedisStore = async (options: RedisStoreOptions): Promise<RedisStore> => {
  const keys = createKeys(options.crawl, options.member);
  const connected = await connectRedis(options.url);
  for (const warning of connected.warnings) options.say(warning);
  const wire = createWire({
    ...connected,
    keys,
    member: options.member,
    clock: options.clock,
    say: options.say,
    scripts: options.frontier === 'files' ? FILE_SCRIPTS : SCRIPTS,
  });
  let rows: Rows | null = null;
  let frontier: Frontier | null = null;
  try {
    await beginCrawl(wire, options);
    rows = openRows(options.rowsPath);
    const { shards, rowsPath, frontierLimits } = options;
    if (options.frontier === 'files')
      frontier = await openFrontier({ wire, shards, rowsPath, limits: { ...FRONTIER_LIMITS, ...frontierLimits } });
    return storeOf(await openBook(options, { wire, rows, frontier }));
  } catch (error) {
    wire.close();
    rows?.close();
    frontier?.files.close();
    throw error;
  }
};

const beginCrawl = async (
  wire: Wire,
  { crawl, member, shards, frontier = 'store' }: RedisStoreOptions,
): Promise<void> => {
  const [said] = (await wire.all([{ name: 'begin', shard: 0, args: [LAYOUT, shards] }])) as [(string | null)[]];
  const layout = readLayout(said);
  checkLayout(crawl, layout);
  checkWhole(crawl, layout);
  if (layout.shards !== shards)
    throw new StoreFault(
      `the crawl "${crawl}" in Redis has ${layout.shards} shards, not ${shards}`,
      'use `gossamer migrate` to change that',
    );
  await bindFrontier(wire, { crawl, member, shards, frontier });
};

/**
 * What the process before this one appended and wrote, but Redis did not settle, is taken back before anything else.
 */
const openBook = async (
  options: RedisStoreOptions,
  { wire, rows, frontier }: Pick<Book, 'wire' | 'rows' | 'frontier'>,
): Promise<Book> => {
  const { member, shards, dead, clock } = options;
  const opening = {
    wire,
    member,
    shards,
    rows,
    frontier,
    tending: null,
    dead,
    clock,
    leases: new Set<number>(),
    hints: createHints(shards),
    turn: 0,
    fault: null,
  };
  // The archive is opened last; freeing does not touch it.
  const unopened = {
    ...opening,
    batch: 0,
    end: { file: '', bytes: 0 },
    archive: null as unknown as Archive,
  } satisfies Book;
  const settled = (await free(unopened, { holder: '', counted: true, culprit: null })).map(readLastSettled);
  const last = rows.last();
  let end = last?.end ?? { file: '', bytes: 0 };
  if (last) {
    const dropped = unsettledOf(last, settled);
    if (dropped.parts.length > 0) {
      if (dropped.dead.length > 0) dead(dropped.dead);
      end = dropped.end;
      rows.reduce({ ...last, end, parts: last.parts.filter((part) => !dropped.parts.includes(part)) }, dropped.parts);
    }
  }
  const batch = Math.max(last?.number ?? 0, ...settled.map(({ number }) => number));
  const archive = options.archive(end);
  return { ...opening, tending: frontier && tendFrontier(frontier), batch, end, archive };
};

const storeOf = (book: Book): RedisStore => {
  let lastSettle: Promise<unknown> = Promise.resolve();
  let rowsInLog = 0;
  const admitToFiles = book.frontier && createFilesAdmit(book, book.frontier);
  const whileOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!book.wire.isOpen()) throw closedFault();
    return work();
  };
  /** One batch at a time: only then are its records the tail of the archive until it is answered. */
  const settleInTurn = (settlements: readonly Settlement[]): Promise<Settled> => {
    const mine = lastSettle.then(() =>
      whileOpen(async () => {
        if (rowsInLog >= CHECKPOINT_ROWS) checkpoint();
        rowsInLog += settlements.length;
        return settle(book, settlements);
      }),
    );
    lastSettle = mine.catch(() => {});
    return mine;
  };
  /** Records before the rows that point to them, on disk too. */
  const checkpoint = (): void => {
    book.archive.sync();
    book.frontier?.writer.sync();
    book.rows.checkpoint();
    rowsInLog = 0;
  };
  return {
    admit: (links, siteWaitingMax = null) =>
      whileOpen(() => (admitToFiles ? admitToFiles(links, siteWaitingMax) : admit(book, links, siteWaitingMax))),
    claim: (ask) => whileOpen(() => claim(book, ask)),
    settle: settleInTurn,
    steer: (orders) => whileOpen(() => steer(book, orders)),
    census: () => whileOpen(() => census(book)),
    time: () => whileOpen(() => timeNow(book)),
    close: async () => {
      if (!book.wire.isOpen()) return;
      book.wire.close();
      await lastSettle;
      await book.tending?.close();
      book.frontier?.writer.close();
      book.frontier?.files.close();
      book.archive.close();
      book.rows.close();
    },
  };
};

const timeNow = async (book: Book): Promise<number> => {
  if (book.clock) return book.clock.now();
  const asked = performance.now();
  const [[now]] = (await book.wire.all([{ name: 'meta', shard: 0, args: [] }])) as [[string, unknown]];
  // Half of the way is the way back.
  return Number(now) + (performance.now() - asked) / 2;
};
