/** Walks the lines of all sites, with their leases: is what they say of themselves true? */

import { writeCount } from '../../lib/units.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { shardOf } from '../../url/shard.ts';
import { textsOf } from './book.ts';
import type { Look } from './look.ts';
import { keyOf, SITE_HELD, SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_READY } from './schema.ts';
import { count, type Course } from './survey-course.ts';

const SITES_AT_ONCE = 1_000;
/** Of half a database page each. */
const BLOCKS_AT_ONCE = 500;

/** A site's id is a random bigint: it is kept as text. */
interface SiteRow {
  readonly id: string;
  readonly name: string;
  readonly shard: number;
  readonly state: number;
  readonly head: number;
  readonly tail: number;
  readonly head_at: number;
  readonly waiting: number;
  readonly pages: number;
  readonly leased: string | null;
  readonly lease: number | null;
  readonly tries: number | null;
  readonly holder: string | null;
}

interface BlockRow {
  readonly site: string;
  readonly position: number;
  readonly read_to: number;
  readonly links: readonly string[];
}

/** How far the line of a site has been followed. */
interface Walked {
  readonly site: SiteRow;
  next: number;
  waiting: number;
}

/** A link as a block holds it, and as the row of a leased site does. */
const LINE = /^\d+ \d+ \d+ [0-7] https?:\/\/\S+$/;
const LEASED = /^\d+ \d+ [0-7] https?:\/\/\S+$/;

export const surveySites = async (course: Course): Promise<void> => {
  const { rows, schema: s } = course.look;
  const shards = await course.look.shards();
  const answered = textsOf(Object.keys(ANSWERED_OUTCOMES));
  for (let after: string | null = null; ; ) {
    const sites: SiteRow[] = await rows(
      `SELECT k.id::text AS id, k.name, k.shard, k.state, k.head, k.tail, k.head_at, k.waiting, k.pages, k.leased, k.lease, k.tries, k.holder
      FROM ${s}.site k WHERE ${isAfter('k.id', '$1')} ORDER BY k.id LIMIT ${SITES_AT_ONCE}`,
      [after],
    );
    const isLast: boolean = sites.length < SITES_AT_ONCE;
    const to: string | null = isLast ? null : sites.at(-1)!.id;
    const walks = new Map(sites.map((site) => [site.id, { site, next: site.head, waiting: 0 }]));
    for await (const block of blocksOf(course.look, after, to)) followBlock(course, block, walks.get(block.site));
    const pages = await rows<{ site: string; n: number }>(
      `SELECT p.site::text AS site, count(*) AS n FROM ${s}.page p
      WHERE ${isAfter('p.site', '$1')} AND ${isUpTo('p.site', '$2')} AND p.outcome = ANY ($3::text[]) GROUP BY p.site`,
      [after, to, answered],
    );
    const pagesOf = new Map(pages.map(({ site, n }) => [site, n]));
    for (const walked of walks.values()) judgeSite(course, walked, { pages: pagesOf.get(walked.site.id) ?? 0, shards });
    if (isLast) return;
    after = to;
  }
};

/** Null is before the first, and behind the last. */
const isAfter = (column: string, value: string): string => `(${value}::bigint IS NULL OR ${column} > ${value}::bigint)`;
const isUpTo = (column: string, value: string): string => `(${value}::bigint IS NULL OR ${column} <= ${value}::bigint)`;

/** The blocks of the sites in that range, those of a site in the order of its line. */
async function* blocksOf(
  { rows, schema: s }: Look,
  after: string | null,
  to: string | null,
): AsyncGenerator<BlockRow, void, undefined> {
  let [site, position] = [after, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const blocks: BlockRow[] = await rows(
      `SELECT b.site::text AS site, b.position, b.read_to, b.links FROM ${s}.block b
      WHERE ($1::bigint IS NULL OR (b.site, b.position) > ($1::bigint, $2::bigint)) AND ${isUpTo('b.site', '$3')} ORDER BY b.site, b.position LIMIT ${BLOCKS_AT_ONCE}`,
      [site, position, to],
    );
    yield* blocks;
    if (blocks.length < BLOCKS_AT_ONCE) return;
    ({ site, position } = blocks.at(-1)!);
  }
}

const followBlock = (
  { wrong, meet }: Course,
  { site: id, position, read_to, links }: BlockRow,
  walked: Walked | undefined,
): void => {
  if (!walked || position < walked.site.head || position > walked.site.tail) {
    return wrong(`block ${position} of waiting links of the site ${walked?.site.name ?? id} is in no line`);
  }
  const { site } = walked;
  if (position !== walked.next) wrong(broken(site, `block ${walked.next} is missing`));
  walked.next = position + 1;
  const from = position === site.head ? site.head_at : read_to;
  const rest = links.slice(from);
  if (from < 0 || rest.length === 0 || !rest.every((line) => LINE.test(line)))
    return wrong(broken(site, `block ${position} cannot be read`));
  walked.waiting += rest.length;
  for (const line of rest) meet(line.slice(line.lastIndexOf(' ') + 1), false);
};

const broken = ({ name }: SiteRow, why: string): string => `the line of the site ${name} is broken: ${why}`;

const judgeSite = (
  course: Course,
  walked: Walked,
  { pages, shards }: { readonly pages: number; readonly shards: number },
): void => {
  const { wrong, counted } = course;
  const { site, waiting } = walked;
  const { name, state } = site;
  if (walked.next !== site.tail + 1) wrong(broken(site, `block ${walked.next} is missing`));
  count(counted, 'sites');
  switch (state) {
    case SITE_PARKED:
      count(counted, 'parked', waiting);
      count(counted, 'sites_parked');
      break;
    case SITE_HELD:
      count(counted, 'held', waiting);
      count(counted, 'sites_held');
      break;
    case SITE_LEASED:
    case SITE_READY:
    case SITE_IDLE:
      count(counted, 'waiting', waiting);
      break;
    default:
      wrong(`the site ${name} has the unknown state ${state}`);
  }
  if (String(keyOf(name)) !== site.id) wrong(`the site ${name} has the number of another`);
  if (site.shard !== shardOf(name, shards))
    wrong(`the site ${name} is in shard ${site.shard}, but belongs to ${shardOf(name, shards)}`);
  if (state === SITE_READY && waiting === 0) wrong(`the site ${name} is noted as waiting, but no link of it waits`);
  if (state === SITE_IDLE && waiting > 0) wrong(`the site ${name} is noted as idle, but links of it wait`);
  if (site.waiting !== waiting)
    wrong(`the site ${name} counts ${writeCount(site.waiting)} waiting, but has ${writeCount(waiting)}`);
  if (site.pages !== pages)
    wrong(`the site ${name} counts ${writeCount(site.pages)} pages, but has ${writeCount(pages)}`);
  judgeLease(course, site);
};

const judgeLease = ({ wrong, counted, meet }: Course, { name, state, leased, lease, tries, holder }: SiteRow): void => {
  if ((state === SITE_LEASED) !== (leased !== null))
    wrong(`the site ${name} is ${leased === null ? 'leased without a link' : 'not leased, but has a leased link'}`);
  if (leased === null) return;
  if (lease === null || tries === null || holder === null)
    wrong(`the lease of the site ${name} has no number, no tries or no holder`);
  if (!LEASED.test(leased)) return wrong(`the leased link of the site ${name} cannot be read`);
  count(counted, 'leased');
  meet(leased.slice(leased.lastIndexOf(' ') + 1), false);
};
