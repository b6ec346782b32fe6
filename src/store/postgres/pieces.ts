/**
 * A crawl that is at rest, in pieces, to move it: sites with their lines as they were found, rules, pages, and what
 * rows do not tell.
 */

import { StoreFault } from '../../frontier/store.ts';
import { siteOf } from '../../url/site.ts';
import type { MemberRows, Piece } from '../shared-crawl.ts';
import { arrayOf } from './book.ts';
import { beingMoved } from './layout.ts';
import { readWaiting } from './line.ts';
import type { Look } from './look.ts';
import { notes } from './notes.ts';
import { PAGE_SELECT, toPage } from './pages.ts';
import { idsAsFound } from './read-sites.ts';
import { censusOf, ROBOTS_SELECT, toRobots, type RobotsRow } from './reader.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED } from './schema.ts';

/** Links of the lines that are read in one go: some megabytes. */
const LINKS_AT_ONCE = 10_000;
/** Blocks of a line that is longer than that. */
const BLOCKS_AT_ONCE = 100;
const LINKS_PER_PIECE = 500;
/** With the largest extracted values, 12 MiB. */
const PAGES_PER_PIECE = 200;
/** With the largest rules, 6 MiB. */
const ROBOTS_AT_ONCE = 100;

/**
 * Throws a StoreFault when a link is leased, when other members have files of the archive, and when the crawl goes on
 * meanwhile.
 */
export async function* piecesOf(look: Look, { member }: MemberRows): AsyncGenerator<Piece, void, undefined> {
  await checkRest(look, member);
  const census = await censusOf(look, member);
  for await (const ids of idsAsFound(look, {})) yield* sitesIn(look, ids);
  yield* robotsIn(look);
  yield* pagesIn(look);
  const { forgotten, archivedBytes, archive, marks, changes } = await censusOf(look, member);
  if (changes !== census.changes) throw atWork(look);
  yield { kind: 'tally', forgotten, archivedBytes, archive, marks, notes: await notes(look) };
}

const atWork = ({ place }: Look): StoreFault =>
  new StoreFault(
    `the crawl "${place.crawl}" in PostgreSQL is at work, or was killed`,
    'resume and stop it, then run this again',
  );

const checkRest = async (look: Look, member: string): Promise<void> => {
  const { rows, schema: s, place } = look;
  await look.shards(); // there must be a crawl
  if ((await look.layout())?.moving !== null) throw beingMoved(place.crawl);
  if ((await rows(`SELECT FROM ${s}.site WHERE state = ${SITE_LEASED} LIMIT 1`)).length > 0) throw atWork(look);
  const others = await rows<{ name: string }>(
    `SELECT name FROM ${s}.member WHERE name <> $1 AND archive_file <> '' ORDER BY name`,
    [member],
  );
  if (others.length === 0) return;
  throw new StoreFault(
    `the crawl "${place.crawl}" in PostgreSQL has pages whose archive is not in this directory, but with ${others.map(({ name }) => name).join(', ')}`,
    'a crawl that several directories took part in stays where it is',
  );
};

interface SiteRow {
  readonly id: string;
  readonly name: string;
  readonly state: number;
  readonly pages: number;
  readonly waiting: number;
  readonly due_at: number;
  readonly delay_ms: number;
  readonly crawl_delay_ms: number;
  readonly response_ms: number;
  readonly failures: number;
}

async function* sitesIn(look: Look, ids: readonly bigint[]): AsyncGenerator<Piece, void, undefined> {
  const sites = await look.rows<SiteRow>(
    `SELECT k.id::text AS id, k.name, k.state, k.pages, k.waiting, k.due_at, k.delay_ms, k.crawl_delay_ms, k.response_ms, k.failures
    FROM unnest($1::bigint[]) WITH ORDINALITY AS u(id, nth) JOIN ${look.schema}.site k ON k.id = u.id ORDER BY u.nth`,
    [arrayOf(ids)],
  );
  for (let i = 0; i < sites.length; ) {
    const group: SiteRow[] = [];
    for (let links = 0; i < sites.length && (group.length === 0 || links + sites[i]!.waiting <= LINKS_AT_ONCE); i++) {
      links += sites[i]!.waiting;
      group.push(sites[i]!);
    }
    const [first] = group;
    if (first!.waiting > LINKS_AT_ONCE) yield* longSite(look, first!);
    else yield* sitesTogether(look, group);
  }
}

const siteOfRow = (row: SiteRow): Piece => ({
  kind: 'site',
  site: row.name,
  state: row.state === SITE_PARKED ? 'parked' : row.state === SITE_HELD ? 'held' : 'open',
  pages: row.pages,
  pace: {
    dueAt: row.due_at,
    delayMs: row.delay_ms,
    crawlDelayMs: row.crawl_delay_ms,
    responseMs: row.response_ms,
    failures: row.failures,
  },
});

interface BlockRow {
  readonly site: string;
  readonly position: number;
  readonly via: string;
  readonly links: readonly string[];
}

type LinePiece = Extract<Piece, { kind: 'line' }>;

/** The blocks of these sites, each from the first link that still waits; those of a site in the order of its line. */
const blocks = (s: string, which: string): string => `
  SELECT k.id::text AS site, b.position, b.via, b.links[CASE WHEN b.position = k.head THEN k.head_at ELSE b.read_to END + 1:] AS links
  FROM unnest($1::bigint[]) AS u(id) JOIN ${s}.site k ON k.id = u.id JOIN ${s}.block b ON b.site = k.id AND ${which} ORDER BY b.site, b.position`;

async function* sitesTogether(
  { rows, schema: s }: Look,
  sites: readonly SiteRow[],
): AsyncGenerator<Piece, void, undefined> {
  const waiting = sites.filter((site) => site.waiting > 0).map(({ id }) => BigInt(id));
  const all =
    waiting.length === 0
      ? []
      : await rows<BlockRow>(blocks(s, 'b.position BETWEEN k.head AND k.tail'), [arrayOf(waiting)]);
  const lines = Map.groupBy(all, ({ site }) => site);
  for (const site of sites) {
    yield siteOfRow(site);
    yield* lineOf(site, lines.get(site.id) ?? []);
  }
}

async function* longSite(look: Look, site: SiteRow): AsyncGenerator<Piece, void, undefined> {
  yield siteOfRow(site);
  yield* lineOf(site, blocksOf(look, site));
}

async function* blocksOf({ rows, schema: s }: Look, { id }: SiteRow): AsyncGenerator<BlockRow, void, undefined> {
  for (let last: number | null = null; ; ) {
    const some: BlockRow[] = await rows(
      `${blocks(s, 'b.position BETWEEN greatest(k.head, $2::bigint + 1) AND k.tail')} LIMIT ${BLOCKS_AT_ONCE}`,
      [arrayOf([BigInt(id)]), last],
    );
    yield* some;
    if (some.length < BLOCKS_AT_ONCE) return;
    last = some.at(-1)!.position;
  }
}

/** Nothing is left behind in silence. */
const checkLine = ({ name, waiting }: SiteRow, links: number): void => {
  if (links !== waiting)
    throw new StoreFault(
      `the site ${name} counts ${waiting} waiting links, but its line has ${links}`,
      'check the crawl with "gossamer verify"',
    );
};

async function* lineOf(
  site: SiteRow,
  some: Iterable<BlockRow> | AsyncIterable<BlockRow>,
): AsyncGenerator<Piece, void, undefined> {
  let links: LinePiece['links'][number][] = [];
  let given = 0;
  for await (const block of some) {
    for (const line of block.links) {
      if (links.push(readWaiting(line, block.via, site.name)) < LINKS_PER_PIECE) continue;
      yield { kind: 'line', site: site.name, links };
      given += links.length;
      links = [];
    }
  }
  if (links.length > 0) yield { kind: 'line', site: site.name, links };
  checkLine(site, given + links.length);
}

async function* robotsIn({ rows, schema: s }: Look): AsyncGenerator<Piece, void, undefined> {
  for (let last = ''; ; ) {
    const found: RobotsRow[] = await rows(
      `SELECT ${ROBOTS_SELECT} FROM ${s}.robots r WHERE r.origin > $1 ORDER BY r.origin LIMIT ${ROBOTS_AT_ONCE}`,
      [last],
    );
    for (const row of found)
      yield { kind: 'robots', site: siteOf(new URL(row.origin).hostname), records: [toRobots(row)] };
    if (found.length < ROBOTS_AT_ONCE) return;
    last = found.at(-1)!.origin;
  }
}

async function* pagesIn({ rows, schema: s }: Look): AsyncGenerator<Piece, void, undefined> {
  for (let last = 0; ; ) {
    const found: Record<string, unknown>[] = await rows(
      `SELECT ${PAGE_SELECT} FROM (SELECT * FROM ${s}.page WHERE id > $1 ORDER BY id LIMIT ${PAGES_PER_PIECE}) p
      JOIN ${s}.site k ON k.id = p.site ORDER BY p.id`,
      [last],
    );
    if (found.length > 0) yield { kind: 'pages', pages: found.map(toPage) };
    if (found.length < PAGES_PER_PIECE) return;
    last = found.at(-1)!.id as number;
  }
}
