/** Fills a crawl from another store: links, sites and known URLs go to Redis, page rows into a file of this member. */

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { StoreFault } from '../../contract/fault.ts';
import type { FilledMember, Filling } from '../../contract/stored-crawl.ts';
import type { FoundTally, Piece, StoredPage } from '../../contract/walk.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { PageRow } from '../../model/page.ts';
import { shardOf } from '../../url/shard.ts';
import { PAGES_DB, pathOf, removeDatabase } from '../files.ts';
import { withoutLongRules } from '../../model/long-rules.ts';
import { SITE_STATE } from '../site-state.ts';
import { storeFault } from '../sqlite/fault.ts';
import { goneFault, type Connection } from './connection.ts';
import { writeEntryText } from './journal.ts';
import { LAYOUT } from './layout.ts';
import { lineOf, printOf } from './run-line.ts';
import { NO_END } from './read-pages.ts';
import { originShard } from './read-robots.ts';
import { createRows, inTransaction, insertPage, PAGE_INDEX, writeBatch } from './rows.ts';
import { everyShard, type Step } from './wire.ts';

/** What is sent in one go, and a piece more: with the largest rules, 10 MiB. */
const CHARS_AT_ONCE = 4_000_000;

/** What goes to one shard, as the step reads it. */
interface Load {
  readonly sites: (readonly (string | number)[])[];
  /** Site, page and lines in turn. */
  readonly runs: string[];
  readonly robots: string[];
  readonly rules: string[];
  readonly counts: Record<string, number>;
  /** Settled links by member. */
  readonly by: Record<string, number>;
  prints: string;
}

/** What waits to be sent, by shard, and how many characters that are. */
interface Loads {
  readonly shards: number;
  readonly byShard: Map<number, Load>;
  chars: number;
}

/** The mark comes first: from then on nobody opens what is there, and what an earlier try left can be removed. */
export const fillCrawl = async (connection: Connection, members: readonly FilledMember[] = []): Promise<Filling> => {
  const { wire, where, keys, place, pages } = connection;
  const { crawl, shards } = place;
  const token = randomUUID();
  const ofCrawl = async (phase: 'begin' | 'take' | 'end', ...args: (string | number)[]): Promise<void> => {
    const [how] = await wire.all([{ name: 'fill-crawl', shard: null, args: [phase, token, ...args] }]);
    if (how === 'whole')
      throw new StoreFault(`Redis at ${where} has a crawl "${crawl}" already`, 'choose another --name');
    if (how === 'overtaken') throw overtaken(crawl);
  };
  const ofShards = async (phase: 'begin' | 'end'): Promise<void> =>
    void (await wire.all(everyShard(shards, (shard): Step => ({ name: 'fill', shard, args: [phase, token] }))));

  await ofCrawl('begin', LAYOUT, shards);
  await connection.removeKeys(keys.of('meta', null));
  await ofShards('begin');
  pages.close();
  const rows = fillRows(pathOf(place, PAGES_DB), shards);
  /** Members keep their rows themselves. */
  const others = new Map(
    members
      .filter(({ member }) => member !== place.member)
      .map((one) => [one.member, { ...one, rows: fillRows(pathOf({ ...place, dir: one.dir }, PAGES_DB), shards) }]),
  );
  /** Whose rows do not come by themselves are this member's. */
  const ownerOf = ({ member }: StoredPage): string => (others.has(member ?? '') ? member! : place.member);
  const loads: Loads = { shards, byShard: new Map(), chars: 0 };
  let archive: ArchiveEnd = NO_END;

  /** These steps may not be repeated: what is lost on the way ends the move, and the next try begins anew. */
  const send = async (): Promise<void> => {
    const steps = [...loads.byShard].map(
      ([shard, load]): Step => ({ name: 'fill', shard, args: ['take', token, JSON.stringify(load)] }),
    );
    loads.byShard.clear();
    loads.chars = 0;
    for (const answer of await wire.once(steps)) {
      if (answer.kind === 'lost') throw goneFault(where, new Error('it was gone for a moment'));
      if (answer.kind === 'refused') throw answer.fault;
      const [how, site] = answer.value as [string, string?];
      if (how === 'overtaken') throw overtaken(crawl);
      if (how === 'unknown')
        throw new StoreFault(`links of "${site}" came, but not the site`, 'check the crawl by "gossamer verify"');
    }
  };

  return {
    take: async (pieces) => {
      for (const piece of pieces) {
        if (piece.kind === 'pages')
          for (const [member, some] of Map.groupBy(piece.pages, ownerOf)) (others.get(member)?.rows ?? rows).add(some);
        if (piece.kind === 'tally') {
          archive = piece.archive;
          await ofCrawl('take', JSON.stringify({ ...metaOf(piece), ...rosterOf(members) }));
        }
        load(loads, piece, ownerOf);
        if (loads.chars >= CHARS_AT_ONCE) await send();
      }
      await send();
    },
    end: async () => {
      rows.end(archive);
      for (const one of others.values()) one.rows.end(one.archive);
      await ofShards('end');
      await ofCrawl('end');
    },
    close: async () => {
      rows.close();
      for (const one of others.values()) one.rows.close();
    },
  };
};

const overtaken = (crawl: string): StoreFault =>
  new StoreFault(`another process began to move a crawl to "${crawl}" meanwhile`, 'run `gossamer migrate` again, once');

const metaOf = ({ marks, notes, journal }: FoundTally) => ({
  marks: Object.entries(marks).flatMap(([name, value]) => [`mark:${name}`, String(value)]),
  notes: Object.entries(notes).flat(),
  journal: journal.map(writeEntryText),
  entries: journal.flatMap(({ id, number }) => [id, String(number)]),
});

/** Members as the crawl remembers them; they are not at work, and have no leases. */
const rosterOf = (members: readonly FilledMember[]) => ({
  members: members.flatMap(({ member }, i) => [member, `${i + 1} 0 - 1`]),
  about: members.flatMap(({ member, about }) => (about === null ? [] : [member, JSON.stringify(about)])),
});

const load = (loads: Loads, piece: Piece, ownerOf: (page: StoredPage) => string): void => {
  const { shards } = loads;
  switch (piece.kind) {
    case 'site': {
      const { site, state, pages, pace } = piece;
      const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = pace;
      const there = loadOf(loads, shardOf(site, shards));
      // Links will make it wait.
      const atFirst = state === 'parked' || state === 'held' ? SITE_STATE[state] : SITE_STATE.idle;
      there.sites.push([site, atFirst, pages, dueAt, delayMs, crawlDelayMs, responseMs, failures]);
      return count(there, 'pages', pages);
    }
    case 'queue': {
      const { runs } = loadOf(loads, shardOf(piece.site, shards));
      const before = runs.length;
      for (const { link, tries } of piece.links) {
        const line = lineOf({ ...link, first: false }, tries);
        if (runs.length > before && runs.at(-2) === link.via) runs.push(runs.pop()! + line);
        else runs.push(piece.site, link.via, line);
        loads.chars += line.length;
      }
      return;
    }
    case 'robots':
      for (const record of piece.records) {
        const { record: kept, long } = withoutLongRules(record);
        const text = JSON.stringify(kept);
        const there = loadOf(loads, originShard(record.origin, shards));
        there.robots.push(record.origin, text);
        if (long) there.rules.push(long.digest, long.text);
        loads.chars += text.length + (long?.text.length ?? 0);
      }
      return;
    case 'pages':
      for (const page of piece.pages) {
        const { site, url, outcome } = page;
        const owner = ownerOf(page);
        const there = loadOf(loads, shardOf(site, shards));
        there.prints += `${printOf(url)} `;
        count(there, `settled:${outcome}`, 1);
        there.by[owner] = (there.by[owner] ?? 0) + 1;
      }
      return;
    case 'tally': {
      const there = loadOf(loads, 0); // counters of the whole crawl are summed over its shards: any will do
      count(there, 'forgotten', piece.forgotten);
      count(there, 'archived', piece.archivedBytes);
      return count(there, 'changes', 1);
    }
    default:
      piece satisfies never;
  }
};

const loadOf = ({ byShard }: Loads, shard: number): Load => {
  let there = byShard.get(shard);
  if (!there)
    byShard.set(shard, (there = { sites: [], runs: [], robots: [], rules: [], counts: {}, by: {}, prints: '' }));
  return there;
};

const count = ({ counts }: Load, name: string, by: number): void => void (counts[name] = (counts[name] ?? 0) + by);

interface RowsFilling {
  add(pages: readonly PageRow[]): void;
  /** Afterwards the file is whole, on disk and closed. */
  end(archive: ArchiveEnd): void;
  close(): void;
}

/** No journal and no sync before the end; and the index is made then, in one go: row by row it is all over the disk. */
const fillRows = (path: string, shards: number): RowsFilling => {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storeFault(error);
    }
  };
  const { db, sql } = guarded(() => {
    removeDatabase(path);
    return createRows(path);
  });
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; DROP INDEX page_of_site');
  return {
    add: (pages) =>
      guarded(() =>
        inTransaction(db, () => {
          for (const page of pages) insertPage(sql, page, 0, shardOf(page.site, shards));
        }),
      ),
    end: (end) =>
      guarded(() => {
        // The batch before the first: what lies after its end was not settled.
        writeBatch(sql, { number: 0, before: end, end, parts: [] });
        db.exec(`${PAGE_INDEX}; PRAGMA journal_mode = WAL`);
        db.close();
        const fd = openSync(path, 'r+');
        fsyncSync(fd); // nothing was synced on the way
        closeSync(fd);
      }),
    close: () => {
      if (db.isOpen) db.close();
    },
  };
};
