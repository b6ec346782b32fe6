/** The store in PostgreSQL: processes share it, each with an archive of its own. */

import { plural } from '../../lib/units.ts';
import { StoreFault } from '../../contract/fault.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { OpenedStore, StoreOptions } from '../options.ts';
import { admit } from './admit.ts';
import { toCensus, type CensusRow } from './census.ts';
import { claim } from './claim.ts';
import { closedFault, connectTo, type Server } from './connect.ts';
import { createDueHints } from './due-hints.ts';
import { storeFault } from './faults.ts';
import { prepareLayout } from './layout.ts';
import { schemaOf } from './schema.ts';
import type { Session } from './session.ts';
import { settle } from './settle.ts';
import { jsonOf } from './values.ts';

/** Names of members: a lease has that of its member before a slash. */
const MEMBER_NAME = /^[^/\0]{1,200}$/;

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

/** Frees this member's leases: its directory is locked by this process, so the former one is dead. */
const enter = async (server: Server, { member, shards, archive, clock: made }: StoreOptions): Promise<Session> => {
  const clock = made?.(0) ?? null;
  const at = (): number | null => clock?.now() ?? null;
  const [entered] = await server.call<ArchiveEnd & Pick<Session, 'run' | 'batch'>>('enter', [member, at()]);
  const { run, batch, file, bytes } = entered!;
  /** The server's time less this process's own. */
  let aheadMs = -Infinity;
  return {
    server,
    member,
    run,
    shards,
    archive: archive({ file, bytes }),
    dueHints: createDueHints(shards),
    at,
    roughly: () => clock?.now() ?? performance.now() + aheadMs,
    heard: (serverMs) => void (aheadMs = serverMs - performance.now()),
    batch,
    broken: null,
  };
};

const storeOf = (session: Session): OpenedStore => {
  const { server, member, run, at } = session;
  let closed = false;
  let turn = 0;
  /** One batch at a time: a batch is the tail of the archive until it is answered. */
  let settling: Promise<unknown> = Promise.resolve();
  const whileOpen = <T>(verb: () => Promise<T>): Promise<T> => (closed ? Promise.reject(closedFault()) : verb());
  return {
    admit: (links, siteWaitingMax = null) => whileOpen(() => admit(session, links, siteWaitingMax)),
    claim: (ask) => whileOpen(() => claim(session, ask, turn++)),
    settle: (settlements) =>
      whileOpen(() => {
        const answer = settling.then(() => settle(session, settlements));
        settling = answer.catch(() => {});
        return answer;
      }),
    steer: (changes) =>
      whileOpen(async () => {
        if (changes.length === 0) return;
        await server.call('steer', [member, run, jsonOf(changes), at()]);
        session.dueHints.forget(null);
      }),
    census: () => whileOpen(async () => toCensus((await server.call<CensusRow>('census', [member, at()]))[0]!)),
    rules: (digest) =>
      whileOpen(async () => (await server.call<{ rules_of: string | null }>('rules_of', [digest]))[0]!.rules_of),
    time: () => whileOpen(async () => (await server.call<{ moment: number }>('moment', [at()]))[0]!.moment),
    close: async () => {
      if (closed) return;
      closed = true;
      await server.close();
      await settling; // it may still cut what was refused
      session.archive.close();
    },
  };
};
