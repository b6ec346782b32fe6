/** The store in PostgreSQL: processes share it, each with an archive of its own. */

import { createElapsed } from '../../lib/clock.ts';
import { plural } from '../../lib/units.ts';
import { StoreFault } from '../../contract/fault.ts';
import type { Entry } from '../../contract/journal.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { OpenedStore, StoreOptions } from '../options.ts';
import { createAdmittedLately } from '../shared/admitted.ts';
import { createLeaseBook } from '../shared/lease-book.ts';
import { bytesOf, joinRecords, openBatchLog } from './batch-log.ts';
import { beat } from './beat.ts';
import { createCensus } from './census.ts';
import { claim } from './claim.ts';
import { closedFault, connectTo, type Server } from './connect.ts';
import { createDueHints } from './due-hints.ts';
import { storeFault } from './faults.ts';
import { createGatherer } from './gather.ts';
import { ENTRIES_AT_ONCE } from './journal.ts';
import { prepareLayout } from './layout.ts';
import { forgottenAfter } from './put-right.ts';
import { schemaOf } from './schema.ts';
import type { Session } from './session.ts';
import { settle } from './settle.ts';
import { functionName } from './sql.ts';
import { steer } from './steer.ts';
import { jsonOf } from './values.ts';

/** Names of members: a lease has that of its member before a slash. */
const MEMBER_NAME = /^[^/\0]{1,200}$/;

/** Leases of different runs of a member have different numbers, too: in a log they are not mistaken for each other. */
const LEASES_PER_RUN = 2 ** 32;

export const openPostgresStore = async (options: StoreOptions): Promise<OpenedStore> => {
  const { url, crawl, member, shards, say } = options;
  const schema = schemaOf(crawl);
  if (!MEMBER_NAME.test(member))
    throw new StoreFault(
      `"${member}" cannot be the name of a member of a crawl`,
      'use up to 200 characters, and no slash',
    );
  const server = connectTo({ url, schema, say });
  try {
    const there = await server.once((client) => prepareLayout(client, { crawl, schema, shards }));
    // A crawl that was made with another number of shards lies elsewhere than this process would look.
    if (there !== shards)
      throw new StoreFault(
        `the crawl "${crawl}" in PostgreSQL has ${plural(Number(there), 'shard')}, not ${shards}`,
        'give the number that it was created with, or use gossamer migrate --shards',
      );
    return storeOf(await enter(server, options));
  } catch (error) {
    await server.close();
    throw storeFault(error);
  }
};

interface EnterRow extends ArchiveEnd {
  readonly run: number;
  readonly batch: number;
  readonly beats: number;
  /** Names the crawl. */
  readonly made: string;
  /** Names the server. */
  readonly present: string;
}

/** Frees this member's leases: its directory is locked by this process, so the former one is dead. */
const enter = async (server: Server, options: StoreOptions): Promise<Session> => {
  const { member, shards, dir, about, dead, say, clock: made } = options;
  /** Functions of this version. */
  const call: Session['call'] = (name, ...rest) => server.call(functionName(name), ...rest);
  const clock = made?.(0) ?? null;
  const at = (): number | null => clock?.now() ?? null;
  const aboutJson = about ? jsonOf(about) : null;
  const values = [member, aboutJson, at()];
  const [entered] = await call<EnterRow>('enter', values);
  const { run, batch, beats, present } = entered!;
  const book = createLeaseBook();
  book.take(run * LEASES_PER_RUN);
  /** The server's time less this process's own. */
  let aheadMs = -Infinity;
  const passed = createElapsed();
  const elapsed = (): number => clock?.now() ?? passed();
  const log = openBatchLog(dir, entered!.made);
  const forgotten = forgottenAfter({ log }, batch);
  // The last batch may not have come to its end. What was answered, the store forgot: those records stay, and are
  // listed.
  const isBack = forgotten.length > 1 || forgotten.some(({ number }) => number <= log.answered());
  if (isBack) dead(joinRecords(forgotten.flatMap(({ records }) => records)), 'forgotten');
  const { file, bytes } = isBack ? forgotten.at(-1)!.end : entered!;
  const last = isBack ? forgotten.at(-1)!.number : batch;
  if (isBack) await call('start_anew', [member, run, book.run(), last, file, bytes, bytesOf(forgotten), at()]);
  return {
    server,
    call,
    member,
    run,
    shards,
    archive: options.archive({ file, bytes }),
    dead,
    log,
    lately: createAdmittedLately(elapsed),
    say,
    dueHints: createDueHints(shards),
    at,
    elapsed,
    roughly: () => clock?.now() ?? performance.now() + aheadMs,
    heard: (serverMs) => void (aheadMs = serverMs - performance.now()),
    book,
    about: aboutJson,
    entry: 0,
    beats,
    batch: last,
    trouble: null,
    serverName: present,
    ready: '',
    heardAt: elapsed(),
    changes: -1,
    broken: null,
  };
};

const storeOf = (session: Session): OpenedStore => {
  const { server, call, at } = session;
  const admit = createGatherer(session);
  const census = createCensus(session);
  let closed = false;
  let turn = 0;
  /** One batch at a time: a batch is the tail of the archive until it is answered. */
  let settling: Promise<unknown> = Promise.resolve();
  const whileOpen = <T>(verb: () => Promise<T>): Promise<T> => (closed ? Promise.reject(closedFault()) : verb());
  return {
    admit: (links, siteWaitingMax = null) => whileOpen(() => admit(links, siteWaitingMax)),
    claim: (ask) => whileOpen(() => claim(session, ask, turn++)),
    settle: (settlements) =>
      whileOpen(() => {
        const answer = settling.then(() => settle(session, settlements));
        settling = answer.catch(() => {});
        return answer;
      }),
    steer: (changes) => whileOpen(() => steer(session, changes)),
    census: () => whileOpen(census),
    beat: () => whileOpen(() => beat(session)),
    journal: (after) => whileOpen(() => call<Entry>('entries_after', [after, ENTRIES_AT_ONCE])),
    rules: (digest) => whileOpen(async () => (await call<{ rules: string | null }>('rules_of', [digest]))[0]!.rules),
    time: () => whileOpen(async () => (await call<{ ms: number }>('moment', [at()]))[0]!.ms),
    close: async () => {
      if (closed) return;
      closed = true;
      await server.close();
      await settling; // it may still cut what was refused
      session.archive.close();
    },
  };
};
