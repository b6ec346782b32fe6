/** Puts a crawl right: settlements are undone in Redis first, then the rows of this member follow. */

import type { LostLinks, Mending } from '../../contract/mending.ts';
import type { StoredPage } from '../../contract/walk.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { shardOf } from '../../url/shard.ts';
import { PAGES_DB, pathOf } from '../files.ts';
import { takenBack } from '../shared/taken-back.ts';
import { storeFault } from '../sqlite/fault.ts';
import { writeWaiting } from '../waiting-text.ts';
import { goneFault, type Connection } from './connection.ts';
import { createRows, inTransaction, readBatch, writeBatch, type RowsDatabase } from './rows.ts';
import { setsIn } from './walk-self.ts';
import { everyShard, type Step } from './wire.ts';

/** Fingerprints that one step makes unknown. */
const PRINTS_AT_ONCE = 5_000;

export const mendCrawl = (connection: Connection): Mending => {
  const { wire, where, place } = connection;

  /** To undo something twice would count it twice: what is lost on the way ends the repair, and a check finds it. */
  const once = async (steps: readonly Step[]): Promise<unknown[]> =>
    (await wire.once(steps)).map((answer) => {
      if (answer.kind === 'answered') return answer.value;
      throw answer.kind === 'lost' ? goneFault(where, new Error('it was gone for a moment')) : answer.fault;
    });

  const withRows = <T>(work: (rows: RowsDatabase) => T): T => {
    connection.pages.close(); // whoever reads on opens it again
    try {
      const rows = createRows(pathOf(place, PAGES_DB));
      try {
        rows.db.exec('PRAGMA synchronous = FULL');
        return inTransaction(rows.db, () => work(rows));
      } finally {
        rows.db.close();
      }
    } catch (error) {
      throw storeFault(error);
    }
  };

  const dropRows = async (rows: readonly number[]): Promise<void> =>
    withRows(({ sql }) => {
      for (const row of rows) sql('DELETE FROM page WHERE id = ?').run(row);
    });

  return {
    dropRows,
    takeBack: async (pages) => {
      const shards = await connection.shards();
      const byShard = Map.groupBy(pages, ({ site }) => shardOf(site, shards));
      await once(
        [...byShard].map(([shard, some]): Step => ({ name: 'take-back', shard, args: [place.member, textOf(some)] })),
      );
      await dropRows(pages.map(({ row }) => row));
    },
    endArchive: async (end) =>
      withRows(({ sql }) => {
        const last = readBatch(sql);
        // Nothing of the last batch is open any more: what was not settled of it is cut.
        if (last) writeBatch(sql, { ...last, before: end, end, parts: [] });
      }),
    recount: async () => {
      const settled = withRows(rowsByShard);
      const ofShard = (shard: number): Forgetting => ({ settled: [place.member, settled.get(shard) ?? 0] });
      await once(everyShard(await connection.shards(), (shard) => forgetting(shard, ofShard(shard))));
    },
    lose: async (member) => {
      await once(everyShard(await connection.shards(), (shard) => forgetting(shard, { lost: [member] })));
    },
    forget: (lost) => forgetLinks(connection, lost, once),
  };
};

interface Forgetting {
  readonly prints?: readonly string[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly pages?: readonly (string | number)[];
  readonly lost?: readonly string[];
  readonly settled?: readonly (string | number)[];
}

const forgetting = (shard: number, what: Forgetting): Step => ({
  name: 'forget',
  shard,
  args: [JSON.stringify({ prints: [], counts: {}, pages: [], lost: [], settled: [], ...what })],
});

/** Links of a site together, as the step takes them, in the order of their rows. */
const textOf = (pages: readonly StoredPage[]): string =>
  JSON.stringify(
    [...Map.groupBy(pages, ({ site }) => site).values()].flat().map((page) => {
      const waiting = takenBack(page);
      const { site, via } = waiting.link;
      const { outcome, warc_group_length: bytes } = page;
      return [site, via, writeWaiting(waiting), outcome, outcome in ANSWERED_OUTCOMES ? 1 : 0, bytes ?? 0];
    }),
  );

const rowsByShard = ({ sql }: RowsDatabase): ReadonlyMap<number, number> => {
  const rows = sql('SELECT shard, count(*) AS n FROM page GROUP BY shard').all() as { shard: number; n: number }[];
  return new Map(rows.map(({ shard, n }) => [shard, n]));
};

/** Counters of the crawl are the sums of its shards: what nobody knows by shard is taken from the first. */
const forgetLinks = async (
  connection: Connection,
  { has, settled, pages, archivedBytes }: LostLinks,
  once: (steps: readonly Step[]) => Promise<unknown[]>,
): Promise<number> => {
  const shards = await connection.shards();
  const settledBy = Object.entries(settled).map(([outcome, n]) => [`settled:${outcome}`, n] as const);
  const counts = { ...Object.fromEntries(settledBy), archived: archivedBytes };
  // Counters and prints by themselves: killed in between, the next check says what is left to do.
  await once([forgetting(0, { counts })]);
  const bySite = Map.groupBy(pages, ([site]) => shardOf(site, shards));
  await once([...bySite].map(([shard, some]) => forgetting(shard, { pages: some.flat() })));
  let forgotten = 0;
  for (let shard = 0; shard < shards; shard++) {
    const prints: string[] = [];
    for await (const set of setsIn(connection, shard))
      prints.push(...set.prints.filter((print) => has(BigInt.asUintN(64, BigInt(print)))));
    for (let from = 0; from < prints.length; from += PRINTS_AT_ONCE) {
      const [n] = await once([forgetting(shard, { prints: prints.slice(from, from + PRINTS_AT_ONCE) })]);
      forgotten += n as number;
    }
  }
  await resetMarks(connection);
  return forgotten;
};

/** Seeds are taken again, and archived pages read again. */
const resetMarks = async ({ wire }: Connection): Promise<void> => {
  const [names] = (await wire.read(null, ['HKEYS', 'meta'])) as [string[]];
  const marks = names.filter((name) => /^mark:(seeds|reread)\b/.test(name)).map((name) => name.slice('mark:'.length));
  await wire.all(marks.map((name): Step => ({ name: 'mark', shard: null, args: [name, 0] })));
};
