/** What one transaction of a move writes: sites with their lines, rules, pages, counters. */

import type { ClientBase } from 'pg';
import { StoreFault } from '../../frontier/store.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import type { Piece } from '../shared-crawl.ts';
import { arrayOf, textOf, textsOf, type Value } from './book.ts';
import { rowsOn } from './look.ts';
import { NOTE } from './notes.ts';
import { PAGE_COLUMNS, pageArrays } from './pages.ts';
import { keyOf, SITE_HELD, SITE_IDLE, SITE_PARKED, SITE_READY } from './schema.ts';
import { count, type Counted } from './survey-course.ts';

type SitePiece = Extract<Piece, { kind: 'site' }>;

/** What one transaction writes. */
export interface Batch {
  /** Sites that are new, and those whose line goes on, by name. */
  readonly sites: Map<string, MovedSite>;
  readonly robots: RobotsRecord[];
  readonly pages: PlacedPage[];
  readonly prints: bigint[];
  tally: Extract<Piece, { kind: 'tally' }> | null;
  weight: number;
}

export interface MovedSite {
  /** Null when the site is there already, and more of its line comes. */
  readonly piece: SitePiece | null;
  readonly blocks: MovedBlock[];
  waiting: number;
}

export interface MovedBlock {
  readonly via: string;
  readonly lines: string[];
  chars: number;
}

export interface Target {
  readonly client: ClientBase;
  readonly s: string;
  readonly shards: number;
  readonly member: string;
}

export const writeBatch = async (to: Target, batch: Batch): Promise<void> => {
  const { client, s } = to;
  const counted: Counted = {};
  await writeSites(to, batch, counted);
  if (batch.prints.length > 0)
    await client.query(`INSERT INTO ${s}.seen (print) SELECT * FROM unnest($1::bigint[])`, [arrayOf(batch.prints)]);
  if (batch.robots.length > 0) await writeRobots(to, batch.robots);
  if (batch.pages.length > 0) await writePages(to, batch.pages, counted);
  if (batch.tally) await writeTally(to, batch.tally, counted);
  await client.query(`SELECT ${s}.tell($1::text[], $2::bigint[])`, [
    textsOf(Object.keys(counted)),
    arrayOf(Object.values(counted)),
  ]);
};

const STATES = { open: SITE_IDLE, parked: SITE_PARKED, held: SITE_HELD } as const satisfies Record<
  SitePiece['state'],
  number
>;
/** The counters of links and of sites in a state; those of open sites wait. */
const COUNTERS: Readonly<Record<number, readonly [links: string, sites: string | null]>> = {
  [SITE_IDLE]: ['waiting', null],
  [SITE_READY]: ['waiting', null],
  [SITE_PARKED]: ['parked', 'sites_parked'],
  [SITE_HELD]: ['held', 'sites_held'],
};

/** A new site comes with as much of its line as there is; the line of one that is there goes on behind its tail. */
const writeSites = async (to: Target, { sites }: Batch, counted: Counted): Promise<void> => {
  const rows = await siteRows(to, sites);
  for (const { piece, state, waiting } of rows) {
    const [links, aside] = COUNTERS[state]!;
    count(counted, links, waiting);
    if (piece === null) continue;
    count(counted, 'sites');
    if (aside !== null) count(counted, aside);
  }
  await makeSites(
    to,
    rows.flatMap((row) => (row.piece ? [{ ...row, piece: row.piece }] : [])),
  );
  await growSites(
    to,
    rows.filter(({ piece }) => piece === null),
  );
  await layBlocks(
    to,
    rows.flatMap(({ id, tail, blocks }) => blocks.map((block, i) => ({ id, position: tail + i + 1, ...block }))),
  );
};

interface SiteRow extends MovedSite {
  readonly id: bigint;
  readonly name: string;
  /** Before the blocks that come now. */
  readonly tail: number;
  readonly state: number;
}

const siteRows = async ({ client, s }: Target, sites: Batch['sites']): Promise<SiteRow[]> => {
  const going = [...sites].filter(([, { piece }]) => piece === null).map(([name]) => keyOf(name));
  const there =
    going.length === 0
      ? []
      : await rowsOn<{ id: string; tail: number; state: number }>(
          client,
          `SELECT id::text AS id, tail, state FROM ${s}.site WHERE id = ANY ($1::bigint[])`,
          [arrayOf(going)],
        );
  if (there.length < going.length)
    throw new StoreFault('a line came before its site', 'this is a defect: please report it');
  const known = new Map(there.map(({ id, ...row }) => [id, row]));
  return [...sites].map(([name, site]) => {
    const id = keyOf(name);
    const { tail = 0, state = STATES[site.piece?.state ?? 'open'] } = known.get(String(id)) ?? {};
    return { ...site, id, name, tail, state: state === SITE_IDLE && site.waiting > 0 ? SITE_READY : state };
  });
};

const SITE_COLUMNS = [
  'id',
  'name',
  'shard',
  'state',
  'pages',
  'due_at',
  'delay_ms',
  'crawl_delay_ms',
  'response_ms',
  'failures',
  'waiting',
  'tail',
] as const;

/** Connections number what they find from stores of their own: here the order is that of the pieces. */
const makeSites = async (
  { client, s, shards }: Target,
  made: readonly (SiteRow & { readonly piece: SitePiece })[],
): Promise<void> => {
  if (made.length === 0) return;
  const numbers = (of: (row: (typeof made)[number]) => number | bigint): string => arrayOf(made.map(of));
  const paces = (['dueAt', 'delayMs', 'crawlDelayMs', 'responseMs', 'failures'] as const).map((part) =>
    numbers(({ piece }) => piece.pace[part]),
  );
  await client.query(
    `INSERT INTO ${s}.site (found, ${SITE_COLUMNS.join(', ')})
    SELECT (SELECT coalesce(sum(n), 0) FROM ${s}.tally WHERE name = 'sites') + u.nth, ${SITE_COLUMNS.map((name) => `u.${name}`).join(', ')}
    FROM unnest($1::bigint[], $2::text[], $3::int[], $4::smallint[], $5::int[], $6::float8[], $7::float8[], $8::float8[], $9::float8[], $10::int[], $11::int[], $12::bigint[])
      WITH ORDINALITY AS u(${SITE_COLUMNS.join(', ')}, nth)`,
    [
      numbers(({ id }) => id),
      textsOf(made.map(({ name }) => name)),
      numbers(({ name }) => shardOf(name, shards)),
      numbers(({ state }) => state),
      numbers(({ piece }) => piece.pages),
      ...paces,
      numbers(({ waiting }) => waiting),
      numbers(({ blocks }) => blocks.length),
    ],
  );
};

const growSites = async ({ client, s }: Target, grown: readonly SiteRow[]): Promise<void> => {
  if (grown.length === 0) return;
  await client.query(
    `UPDATE ${s}.site k SET tail = k.tail + u.blocks, waiting = k.waiting + u.links, state = u.state
    FROM unnest($1::bigint[], $2::int[], $3::int[], $4::smallint[]) AS u(id, blocks, links, state) WHERE k.id = u.id`,
    [
      arrayOf(grown.map(({ id }) => id)),
      arrayOf(grown.map(({ blocks }) => blocks.length)),
      arrayOf(grown.map(({ waiting }) => waiting)),
      arrayOf(grown.map(({ state }) => state)),
    ],
  );
};

const layBlocks = async (
  { client, s }: Target,
  laid: readonly (MovedBlock & { readonly id: bigint; readonly position: number })[],
): Promise<void> => {
  if (laid.length === 0) return;
  await client.query(
    `INSERT INTO ${s}.block (site, position, via, links) SELECT u.site, u.position, u.via, string_to_array(u.links, E'\\n')
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS u(site, position, via, links)`,
    [
      arrayOf(laid.map(({ id }) => id)),
      arrayOf(laid.map(({ position }) => position)),
      textsOf(laid.map(({ via }) => via)),
      textsOf(laid.map(({ lines }) => lines.join('\n'))),
    ],
  );
};

const writeRobots = async ({ client, s }: Target, records: readonly RobotsRecord[]): Promise<void> => {
  await client.query(
    `INSERT INTO ${s}.robots (origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms)
    SELECT * FROM unnest($1::text[], $2::float8[], $3::float8[], $4::text[], $5::text[], $6::float8[])`,
    [
      textsOf(records.map(({ origin }) => origin)),
      arrayOf(records.map(({ fetchedAt }) => fetchedAt)),
      arrayOf(records.map(({ expiresAt }) => expiresAt)),
      textsOf(records.map(({ verdict }) => verdict)),
      textsOf(records.map(({ rules }) => rules)),
      arrayOf(records.map(({ crawlDelayMs }) => crawlDelayMs)),
    ],
  );
};

const memberOf = async ({ client, s, member }: Target): Promise<number> => {
  await client.query(`INSERT INTO ${s}.member (name, run) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING`, [member]);
  return (await rowsOn<{ id: number }>(client, `SELECT id FROM ${s}.member WHERE name = $1`, [member]))[0]!.id;
};

const writePages = async (to: Target, pages: readonly PlacedPage[], counted: Counted): Promise<void> => {
  for (const { outcome } of pages) {
    count(counted, `settled ${outcome}`);
    if (outcome in ANSWERED_OUTCOMES) count(counted, 'pages');
  }
  const names = PAGE_COLUMNS.map(({ name }) => `"${name}"`).join(', ');
  const arrays = PAGE_COLUMNS.map(({ type }, i) => `$${i + 2}::${type}[]`).join(', ');
  const values: Value[] = [
    await memberOf(to),
    ...pageArrays(pages.map((page) => ({ page, site: keyOf(page.site), place: page.place }))),
  ];
  await to.client.query(
    `INSERT INTO ${to.s}.page (member, ${names}) SELECT $1::int, ${names} FROM unnest(${arrays}) WITH ORDINALITY AS u(${names}, nth) ORDER BY u.nth`,
    values,
  );
};

const writeTally = async (
  to: Target,
  { forgotten, archivedBytes, archive, marks, notes }: NonNullable<Batch['tally']>,
  counted: Counted,
): Promise<void> => {
  const { client, s } = to;
  count(counted, 'forgotten', forgotten);
  count(counted, 'archived', archivedBytes);
  count(counted, 'changes');
  await client.query(`UPDATE ${s}.member SET archive_file = $2, archive_bytes = $3 WHERE id = $1`, [
    await memberOf(to),
    archive.file,
    archive.bytes,
  ]);
  await client.query(`INSERT INTO ${s}.mark (name, value) SELECT * FROM unnest($1::text[], $2::float8[])`, [
    textsOf(Object.keys(marks)),
    arrayOf(Object.values(marks)),
  ]);
  const texts = Object.entries(notes);
  await client.query(`INSERT INTO ${s}.meta (name, value) SELECT * FROM unnest($1::text[], $2::text[])`, [
    textsOf(texts.map(([name]) => NOTE + name)),
    textsOf(texts.map(([, text]) => textOf(text))),
  ]);
};
