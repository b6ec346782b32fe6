/** Walks over everything of a stopped crawl, in little memory. */

import type { Found, StoredPage, WalkPart } from '../../contract/walk.ts';
import { digestOf } from '../../model/long-rules.ts';
import { NO_PLACE } from '../../model/page.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
import type { Waiting } from '../../model/waiting.ts';
import { rulesMissing } from '../rules-missing.ts';
import { census } from './census.ts';
import type { Connection } from './connection.ts';
import { readEntries } from './journal.ts';
import { orNull, readGivenUp, readLease } from './queue.ts';
import { lastRow, NO_END, readPage, selectPages, type PagesReader } from './read-pages.ts';
import { readRecord, recordsIn, wholeRobots } from './read-robots.ts';
import { readSites, type SiteRow } from './read-sites.ts';
import { hasGivenUp, readBatch, type Batch } from './rows.ts';
import { readLastSettled, unsettledOf, type Unsettled } from './unsettled.ts';
import { damageOf, isPrint, setsIn, walkSelf } from './walk-self.ts';
import { everyShard, pairs, reading } from './wire.ts';

const SITES_AT_ONCE = 500;
/** Elements of queues read in one go, of 2 KB each. */
const ELEMENTS_AT_ONCE = 300;
/** About 100 KB, so that a queue of any length is never in memory as a whole. */
const LINKS_PER_PIECE = 500;
/** With the largest extracted values, 6 MiB. */
const PAGES_PER_PIECE = 100;

type Walk = AsyncGenerator<Found, void, undefined>;

export async function* walkCrawl(connection: Connection, parts: readonly WalkPart[]): Walk {
  const shards = await connection.shards();
  for (const part of parts) {
    if (part === 'self') yield* walkSelf(connection, shards);
    else if (part === 'pages') yield* pagesOf(connection, shards);
    else if (part === 'tally') yield* tallyOf(connection, shards);
    else for (let shard = 0; shard < shards; shard++) yield* IN_SHARD[part](connection, shard);
  }
}

async function* seenIn(connection: Connection, shard: number): Walk {
  for await (const { prints } of setsIn(connection, shard))
    yield {
      kind: 'seen',
      prints: BigUint64Array.from(prints.filter(isPrint), (print) => BigInt.asUintN(64, BigInt(print))),
    };
}

async function* robotsIn(connection: Connection, shard: number): Walk {
  for await (const texts of recordsIn(connection, shard)) {
    const records: RobotsRecord[] = [];
    for (const [origin, text] of texts) {
      const record = readRecord(origin, text);
      const whole = record && (await wholeRobots(connection.wire, shard, record));
      if (record === null) yield { kind: 'wrong', says: `the robots rules of ${origin} cannot be read` };
      else if (whole === null) yield rulesMissing(origin);
      // Long rules are a piece of their own: fifty of them would be 25 MiB.
      else if (digestOf(record) !== null) yield { kind: 'robots', records: [whole] };
      else records.push(whole);
    }
    yield { kind: 'robots', records };
  }
}

async function* sitesIn(connection: Connection, shard: number): Walk {
  for (let from = 0; ; from += SITES_AT_ONCE) {
    const [names] = (await connection.wire.read(shard, ['LRANGE', 'sites', from, from + SITES_AT_ONCE - 1])) as [
      string[],
    ];
    const rows = await readSites(connection, [{ shard, names }]);
    for (let i = 0; i < rows.length; ) {
      const some = rows.slice(i, (i += howMany(rows, i)));
      const firsts = await elementsOf(connection, shard, some);
      for (const [n, row] of some.entries()) {
        yield toFound(connection, shard, row);
        yield* queueOf(connection, shard, { row, first: firsts[n]! });
      }
    }
    if (names.length < SITES_AT_ONCE) return;
  }
}

const IN_SHARD = { seen: seenIn, robots: robotsIn, sites: sitesIn } as const;

/** From that site on, how many have queues that can be read in one go; at least one. */
const howMany = (rows: readonly SiteRow[], from: number): number => {
  let [n, elements] = [0, 0];
  do elements += rows[from + n++]!.elements;
  while (from + n < rows.length && elements + rows[from + n]!.elements <= ELEMENTS_AT_ONCE);
  return n;
};

/** Elements of the queues of these sites, from that one on. */
const elementsOf = async ({ wire }: Connection, shard: number, rows: readonly SiteRow[], from = 0) =>
  (await wire.read(
    shard,
    ...rows.map(({ site }) => ['LRANGE', `queue:${site}`, from, from + ELEMENTS_AT_ONCE - 1] as const),
  )) as string[][];

const toFound = ({ queue }: Connection, shard: number, row: SiteRow): Found => {
  const { site, state, waiting, pages, pace } = row;
  const lease = readLease(row.lease, site);
  const leased = row.lease === '' ? null : ((lease && orNull(() => queue.link(lease.taken))) ?? 'unreadable');
  return { kind: 'site', site, state, shard, waiting, pages, pace, leased };
};

interface Queue {
  readonly row: SiteRow;
  readonly first: readonly string[];
}

async function* queueOf(connection: Connection, shard: number, { row, first }: Queue): Walk {
  const { site, elements, headAt } = row;
  const links: Waiting[] = [];
  let at = 0;
  for (let some = first; some.length > 0; ) {
    for (const text of some) {
      const more = orNull(() => connection.queue.links({ site, text, headAt: at === 0 ? headAt : 0 }));
      at++;
      links.push(...(more ?? []));
      while (links.length >= LINKS_PER_PIECE || (more === null && links.length > 0))
        yield { kind: 'queue', site, links: links.splice(0, LINKS_PER_PIECE) };
      if (more === null) return yield { kind: 'broken', site, says: `block ${at} cannot be read` };
    }
    some = at < elements ? (await elementsOf(connection, shard, [row], at))[0]! : [];
  }
  if (links.length > 0) yield { kind: 'queue', site, links };
}

const lastWritten = (pages: PagesReader): Batch | null => {
  try {
    return pages.read(readBatch);
  } catch (error) {
    damageOf(error); // is told of the pages
    return null;
  }
};

/** What is not settled of the last batch that this member wrote, and the other members that have settled something. */
const lastBatchOf = async ({ wire, pages, place }: Connection, shards: number) => {
  const answers = (await wire.all(everyShard(shards, (shard) => reading(shard, [['HGETALL', 'batch']])))) as [
    string[],
  ][];
  const settled = answers.map(([flat]) => new Map(pairs(flat)));
  const last = lastWritten(pages);
  const unsettled: Unsettled = last
    ? unsettledOf(
        last,
        new Map(settled.map((byMember, shard) => [shard, readLastSettled(byMember.get(place.member) ?? '')])),
      )
    : { parts: [], end: NO_END, dead: [] };
  const others = new Set(settled.flatMap((byMember) => [...byMember.keys()]));
  others.delete(place.member);
  return { unsettled, others: [...others].toSorted() };
};

/** Links that were given up are settled, though the row is not written yet: they come last. */
async function* pagesOf(connection: Connection, shards: number): Walk {
  const { pages, place } = connection;
  try {
    const { unsettled } = await lastBatchOf(connection, shards);
    const withdrawn = unsettled.parts.flatMap(({ row }) => row ?? []).join(', ');
    const slice = `WHERE id > ? AND id NOT IN (${withdrawn}) ORDER BY id LIMIT ?`;
    for (let row = 0; ; ) {
      const rows = pages.read((sql) => selectPages(sql, slice, row, PAGES_PER_PIECE)) ?? [];
      if (rows.length === 0) break;
      yield {
        kind: 'pages',
        pages: rows.map((one): StoredPage => ({ ...readPage(one), row: one[0], mine: true, member: place.member })),
      };
      row = rows.at(-1)![0];
    }
    for (let shard = 0; shard < shards; shard++) yield* givenUpIn(connection, shard);
  } catch (error) {
    yield damageOf(error);
  }
}

async function* givenUpIn({ wire, queue, pages, place }: Connection, shard: number): Walk {
  const [texts] = (await wire.read(shard, ['LRANGE', `gone:${place.member}`, 0, -1])) as [string[]];
  let row = pages.read(lastRow) ?? 0;
  for (const text of texts) {
    const { at, taken } = readGivenUp(text);
    const waiting = orNull(() => queue.link(taken));
    if (waiting === null)
      yield { kind: 'wrong', says: `a link of the site ${taken.site} that was given up cannot be read` };
    else if (!pages.read((sql) => hasGivenUp(sql, waiting.link))) {
      const page = { ...unansweredPage({ ...waiting, outcome: 'gave-up', at }), ...NO_PLACE };
      yield { kind: 'pages', pages: [{ ...page, row: ++row, mine: true, member: place.member }] };
    }
  }
}

async function* tallyOf(connection: Connection, shards: number): Walk {
  const { wire } = connection;
  const { unsettled, others } = await lastBatchOf(connection, shards);
  const { forgotten, archivedBytes, archive, marks } = await census({ wire, shards, end: unsettled.end });
  const [notes] = (await wire.read(null, ['HGETALL', 'notes'])) as [string[]];
  yield {
    ...{ kind: 'tally', forgotten, archivedBytes, archive, marks },
    journal: await readEntries(wire, 0, Infinity),
    notes: Object.fromEntries(pairs(notes).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    elsewhere: others,
    dead: unsettled.dead,
  };
}
