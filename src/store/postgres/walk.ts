/** Everything that lies in a crawl at rest, in short reads. */

import type { Found, FoundSite, FoundTally, WalkPart } from '../../contract/walk.ts';
import type { CarriedRobots } from '../../model/long-rules.ts';
import { siteStateOf } from '../site-state.ts';
import { readWaiting } from '../waiting-text.ts';
import { readCensus } from './census.ts';
import { LONG_MS_MAX, type Connection } from './connection.ts';
import { allEntries } from './journal.ts';
import { beingMoved } from './layout.ts';
import { toPage, type FoundPage } from './pages.ts';
import { readPages } from './read-pages.ts';
import { idsAsFound } from './read-sites.ts';
import { robotsPieces } from './robots.ts';
import { keyOf } from './schema.ts';
import { sqlFile } from './sql.ts';
import { arrayOf } from './values.ts';

type Walk = AsyncGenerator<Found, void, undefined>;

export async function* walk(connection: Connection, parts: readonly WalkPart[]): Walk {
  const { rows, options } = connection;
  if ((await rows("SELECT FROM @crawl.meta WHERE name = '@moving'")).length > 0) throw beingMoved(options.crawl);
  for (const part of parts) yield* PARTS[part](connection);
}

/** Reads so many rows at a time, each time after the last that came. */
async function* inSteps<Row>(
  atOnce: number,
  step: (last: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[], void, undefined> {
  for (let last: Row | null = null; ; ) {
    const rows = await step(last);
    if (rows.length > 0) yield rows;
    if (rows.length < atOnce) return;
    last = rows.at(-1)!;
  }
}

const STRAYS_AT_ONCE = 1_000;

async function* strayBlocks({ rows }: Connection): Walk {
  const steps = inSteps<{ says: string; site: string; position: number }>(STRAYS_AT_ONCE, (last) =>
    rows(sqlFile('stray-blocks'), [last?.site ?? null, last?.position ?? null, STRAYS_AT_ONCE], LONG_MS_MAX),
  );
  for await (const strays of steps)
    for (const { says } of strays) yield { kind: 'wrong', says, repair: 'stray-blocks' };
}

const PRINTS_AT_ONCE = 50_000;

async function* seen({ rows }: Connection): Walk {
  const steps = inSteps<{ prints: Buffer; last: string }>(1, (former) =>
    rows(sqlFile('walk-seen'), [former?.last ?? null, PRINTS_AT_ONCE]),
  );
  for await (const [part] of steps) {
    const bytes = part!.prints;
    const prints = BigUint64Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64BE(8 * i));
    yield { kind: 'seen', prints };
  }
}

/** With the largest extracted values, 12 MiB. */
const PAGES_AT_ONCE = 200;

async function* pages({ rows, options }: Connection): Walk {
  const steps = inSteps<FoundPage>(PAGES_AT_ONCE, (last) =>
    readPages(rows, { after: last?.row ?? 0, limit: PAGES_AT_ONCE }),
  );
  for await (const some of steps) {
    for (const { url, site, member } of some) {
      if (site === null) yield { kind: 'wrong', says: `the page ${url} belongs to a site that is not there` };
      if (member === null) yield { kind: 'wrong', says: `the page ${url} was settled by a member that is not there` };
    }
    const mine = options.member;
    yield {
      kind: 'pages',
      pages: some.map((page) => ({
        ...toPage(page),
        row: page.row,
        mine: page.member === mine,
        member: page.member ?? '',
      })),
    };
  }
}

/** Each block is half a database page. */
const BLOCKS_AT_ONCE = 500;

/** A site, or a block of its queue. */
interface WalkRow {
  readonly nth: number;
  readonly site: WalkedSite | null;
  readonly position: number;
  readonly via: string;
  readonly links: readonly string[];
}

interface WalkedSite {
  readonly found: Omit<FoundSite, 'kind' | 'state' | 'leased'>;
  readonly id: string;
  readonly state: number;
  readonly leased: string | null;
  readonly via: string;
  readonly lease: string | null;
  readonly holder: string | null;
  readonly head: number;
  readonly tail: number;
}

/** How far a queue was followed; `next` is null once it is broken: what is left of it is not looked at. */
interface Followed {
  readonly site: string;
  readonly tail: number;
  next: number | null;
}

async function* sites({ rows }: Connection): Walk {
  for await (const ids of idsAsFound(rows, {})) {
    let queue: Followed | null = null;
    const steps = inSteps<WalkRow>(BLOCKS_AT_ONCE, (last) =>
      rows(sqlFile('walk-sites'), [arrayOf(ids), last?.nth ?? 0, last?.position ?? null, BLOCKS_AT_ONCE]),
    );
    for await (const some of steps)
      for (const row of some) {
        if (row.site === null) yield* follow(queue!, row);
        else {
          if (queue) yield* end(queue);
          const { found, tail, head } = row.site;
          queue = { site: found.site, tail, next: head };
          yield* begin(row.site);
        }
      }
    if (queue) yield* end(queue);
  }
}

function* begin({ found, id, state, leased, via, lease, holder }: WalkedSite): Generator<Found> {
  const { site } = found;
  if (String(keyOf(site)) !== id) yield { kind: 'wrong', says: `the site ${site} has the number of another` };
  if (leased !== null && (lease === null || holder === null))
    yield { kind: 'wrong', says: `the lease of the site ${site} has no number or no holder` };
  const link = leased === null ? null : (readWaiting(leased, via, site) ?? 'unreadable');
  yield { kind: 'site', ...found, state: siteStateOf(state), leased: link };
}

function* follow(queue: Followed, { position, via, links: texts }: WalkRow): Generator<Found> {
  const { site, next } = queue;
  if (next === null) return;
  const links = texts.flatMap((text) => readWaiting(text, via, site) ?? []);
  const isWhole = links.length > 0 && links.length === texts.length;
  queue.next = position === next && isWhole ? position + 1 : null;
  if (queue.next !== null) yield { kind: 'queue', site, links };
  else if (position === next) yield { kind: 'broken', site, says: `block ${position} cannot be read` };
  else yield missing(site, next);
}

const missing = (site: string, position: number): Found => ({
  kind: 'broken',
  site,
  says: `block ${position} is missing`,
});

function* end({ site, tail, next }: Followed): Generator<Found> {
  if (next !== null && next <= tail) yield missing(site, next);
}

/** Records of origins have some KiB each: long rules are not in them. */
const ROBOTS_AT_ONCE = 100;

async function* robots({ rows }: Connection): Walk {
  const steps = inSteps<{ record: CarriedRobots }>(ROBOTS_AT_ONCE, (last) =>
    rows('SELECT @crawl.record(r) AS record FROM @crawl.robots r WHERE r.origin > $1 ORDER BY r.origin LIMIT $2', [
      last?.record.origin ?? '',
      ROBOTS_AT_ONCE,
    ]),
  );
  for await (const some of steps)
    yield* robotsPieces(
      rows,
      some.map(({ record }) => record),
    );
}

async function* tally(connection: Connection): Walk {
  const { forgotten, archivedBytes, archive, marks } = await readCensus(connection);
  const [rest] = await connection.rows<Pick<FoundTally, 'notes' | 'elsewhere'>>(sqlFile('walk-tally'), [
    connection.options.member,
  ]);
  const journal = await allEntries(connection.rows);
  yield { kind: 'tally', forgotten, archivedBytes, archive, marks, ...rest!, journal, dead: [] };
}

const PARTS: Readonly<Record<WalkPart, (connection: Connection) => Walk>> = {
  self: strayBlocks,
  seen,
  pages,
  sites,
  robots,
  tally,
};
