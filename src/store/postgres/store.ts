/** The store in PostgreSQL: processes share it, each with an archive of its own. */

import { StoreFault, type Archive, type Store } from '../../frontier/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { admit } from './admit.ts';
import type { Book } from './book.ts';
import { census } from './census.ts';
import { claim } from './claim.ts';
import { closedFault, connectTo, type Server } from './connect.ts';
import { createDueHints } from './due-hints.ts';
import { storeFault } from './faults.ts';
import { checkShards, prepareLayout } from './layout.ts';
import { isCrawlName, schemaOf } from './schema.ts';
import { settle } from './settle.ts';
import { callOf } from './steer.ts';

export interface PostgresStoreOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** The name of the crawl: its tables lie in the schema gossamer_<crawl>. */
  readonly crawl: string;
  /** The id of this process's directory; the archive there is this member's own. */
  readonly member: string;
  readonly shards: number;
  /** The archive, cut to where the settled part of this member ends. */
  readonly archive: (settled: ArchiveEnd) => Archive;
  /** Tests give one; null means the server's, which is what crawls use. */
  readonly clock: Clock | null;
  /** The server is gone, is back, is slow. */
  readonly say: (message: string) => void;
}

export interface PostgresStore extends Store {
  /** The server's time now, as near as a round trip can tell. */
  time(): Promise<number>;
}

/** Its leases have the member's name before a slash. */
const MEMBER_NAME = /^[^/\0]{1,200}$/;

export const openPostgresStore = async (options: PostgresStoreOptions): Promise<PostgresStore> => {
  const { crawl, member, shards, clock } = options;
  if (!isCrawlName(crawl))
    throw new StoreFault(
      `"${crawl}" cannot be the name of a crawl in PostgreSQL`,
      'use up to 50 of the characters a-z, 0-9 and _',
    );
  if (!MEMBER_NAME.test(member))
    throw new StoreFault(
      `"${member}" cannot be the name of a member of a crawl`,
      'use up to 200 characters, and no slash',
    );
  const schema = schemaOf(crawl);
  const server = connectTo({ url: options.url, schema, say: options.say });
  try {
    checkShards(crawl, {
      shards: await server.once((client) => prepareLayout(client, { crawl, schema, shards })),
      wanted: shards,
    });
    return await openOn(server, options);
  } catch (error) {
    await server.close();
    throw error;
  }

  async function openOn(on: Server, { archive }: PostgresStoreOptions): Promise<PostgresStore> {
    // Opening frees this member's leases: its directory is locked by this process, so the former one is dead.
    const [entered] = await on.run<{ run: number; batch: number; archive_file: string; archive_bytes: number }>([
      { verb: 'enter', values: [member, clock?.now() ?? null] },
    ]);
    const { run, batch, archive_file: file, archive_bytes: bytes } = entered!;
    return verbsOf(on, bookOf(on, { member, run, batch, shards, clock, archive: opened(archive, { file, bytes }) }));
  }
};

const opened = (archive: PostgresStoreOptions['archive'], settled: ArchiveEnd): Archive => {
  try {
    return archive(settled);
  } catch (error) {
    throw storeFault(error);
  }
};

const bookOf = (
  server: Server,
  { clock, ...parts }: Pick<Book, 'member' | 'run' | 'batch' | 'shards' | 'archive'> & { clock: Clock | null },
): Book => {
  /** The server's time less this process's own. */
  let aheadMs = -Infinity;
  return {
    ...parts,
    dueHints: createDueHints(parts.shards),
    broken: null,
    call: (verb, values, onLost) => server.run([{ verb, values }], onLost),
    at: () => clock?.now() ?? null,
    roughly: () => clock?.now() ?? performance.now() + aheadMs,
    heard: (serverMs) => void (aheadMs = serverMs - performance.now()),
  };
};

const verbsOf = (server: Server, book: Book): PostgresStore => {
  let closed = false;
  let turn = 0;
  /** One batch at a time: a batch is the tail of the archive until it is answered. */
  let settling: Promise<unknown> = Promise.resolve();
  const whileOpen = <T>(verb: () => Promise<T>): Promise<T> => (closed ? Promise.reject(closedFault()) : verb());
  return {
    admit: (links, siteWaitingMax = null) => whileOpen(() => admit(book, links, siteWaitingMax)),
    claim: (ask) => whileOpen(() => claim(book, ask, turn++)),
    settle: (settlements) =>
      whileOpen(() => {
        const answer = settling.then(() => settle(book, settlements));
        settling = answer.catch(() => {});
        return answer;
      }),
    steer: (orders) =>
      whileOpen(async () => {
        if (orders.length === 0) return;
        await server.run([
          { verb: 'fence', values: [book.member, book.run] },
          ...orders.map((order) => callOf(book, order)),
        ]);
        book.dueHints.forget(null);
      }),
    census: () => whileOpen(() => census(book)),
    time: () =>
      whileOpen(
        async () => (await server.run<{ moment: number }>([{ verb: 'moment', values: [book.at()] }]))[0]!.moment,
      ),
    close: async () => {
      if (closed) return;
      closed = true;
      await server.close();
      await settling; // it may still cut what was refused
      book.archive.close();
    },
  };
};
