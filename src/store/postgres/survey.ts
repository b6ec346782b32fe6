/**
 * Meets every link of a crawl once and counts: is each in exactly one state, and do the counters say the same?
 *
 * Memory: 12 bytes per URL ever seen (their fingerprints), and what some thousand rows take. The indexes are the
 * server's own affair: that a site is in the index of due ones is what its state says.
 */

import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import { writeCount } from '../../lib/units.ts';
import type { ArchiveEnd, Census } from '../../model/census.ts';
import { ANSWERED_OUTCOMES, type OutcomeName } from '../../model/outcome.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { WRONG_NAMED_MAX, type MemberRows, type SharedSurvey } from '../shared-crawl.ts';
import { arrayOf } from './book.ts';
import type { Look } from './look.ts';
import { PAGE_SELECT, toPage } from './pages.ts';
import { censusOf } from './reader.ts';
import { count, type Counted, type Course } from './survey-course.ts';
import { surveySites } from './survey-sites.ts';

const PRINTS_AT_ONCE = 50_000;
const PAGES_AT_ONCE = 2_000;
/** With the largest extracted values, 6 MiB. */
const PLACED_AT_ONCE = 100;
const PROGRESS_EVERY = 1_000;

export const surveyOf = async (
  look: Look,
  { member }: MemberRows,
  onProgress: (linksDone: number) => void,
): Promise<SharedSurvey> => {
  const census = await censusOf(look, member);
  const seen = await seenOf(look);
  const wrong: string[] = [];
  const suspects: Suspect[] = [];
  let wrongTotal = 0;
  let links = 0;
  const course: Course = {
    look,
    counted: {},
    wrong: (says) => {
      wrongTotal++;
      if (wrong.length < WRONG_NAMED_MAX) wrong.push(says);
    },
    meet: (url, settled) => {
      if (++links % PROGRESS_EVERY === 0) onProgress(links);
      const print = fingerprint(url);
      if (seen.remove(print)) return;
      if (suspects.length < WRONG_NAMED_MAX) suspects.push({ url, print, settled });
      else wrongTotal++;
    },
  };
  const [me] = await look.rows<{ id: number; file: string; bytes: number }>(
    `SELECT id, archive_file AS file, archive_bytes AS bytes FROM ${look.schema}.member WHERE name = $1`,
    [member],
  );
  const inOrder = await surveyPages(course, me?.id ?? 0);
  await surveySites(course);
  await judge(course, suspects);
  if (seen.size > 0)
    course.wrong(
      `${writeCount(seen.size)} known ${seen.size === 1 ? 'URL is' : 'URLs are'} neither waiting nor leased, parked, held or settled`,
    );
  compare(course, census);
  const end: ArchiveEnd = { file: me?.file ?? '', bytes: me?.bytes ?? 0 };
  return { links, census, wrong, wrongTotal, placed: placedOf(look, { member: me?.id ?? 0, inOrder }), end };
};

const seenOf = async ({ rows, schema: s }: Look): Promise<FingerprintTable> => {
  const [known] = await rows<{ n: number }>(`SELECT count(*) AS n FROM ${s}.seen`);
  // with room for all: a table that grows leaves its former rooms to the garbage collector
  const seen = createFingerprintTable(known!.n);
  for (let last: string | null = null; ; ) {
    const [part]: { prints: Buffer | null; last: string }[] = await rows(
      `
      SELECT string_agg(int8send(k.print), '') AS prints, max(k.print)::text AS last
      FROM (SELECT print FROM ${s}.seen WHERE $1::bigint IS NULL OR print > $1::bigint ORDER BY print LIMIT ${PRINTS_AT_ONCE}) k`,
      [last],
    );
    if (part!.prints === null) return seen;
    for (let at = 0; at < part!.prints.length; at += 8) seen.add(part!.prints.readBigUInt64BE(at));
    last = part!.last;
  }
};

/** A link whose fingerprint was not there: met before, or never known. */
interface Suspect {
  readonly url: string;
  readonly print: bigint;
  readonly settled: boolean;
}

const judge = async ({ look: { rows, schema: s }, wrong }: Course, suspects: readonly Suspect[]): Promise<void> => {
  if (suspects.length === 0) return;
  const prints = suspects.map(({ print }) => BigInt.asIntN(64, print));
  const known = new Set(
    (
      await rows<{ print: string }>(`SELECT print::text AS print FROM ${s}.seen WHERE print = ANY ($1::bigint[])`, [
        arrayOf(prints),
      ])
    ).map(({ print }) => print),
  );
  suspects.forEach(({ url, settled }, i) => {
    if (!known.has(String(prints[i]))) wrong(`${url} is not in the log of known URLs`);
    else
      wrong(
        `${url} is there twice: ${settled ? 'it is settled twice' : 'it waits or is leased, and is somewhere else too'}`,
      );
  });
};

interface PageRow {
  readonly id: number;
  readonly member: number;
  readonly by: number | null;
  readonly site: string;
  readonly known: boolean;
  readonly url: string;
  readonly outcome: OutcomeName;
  readonly file: string | null;
  readonly offset: number;
}

/** Whether this member's pages are in the order of their places. */
const surveyPages = async (
  { look: { rows, schema: s }, counted, wrong, meet }: Course,
  member: number,
): Promise<boolean> => {
  let inOrder = true;
  let last = { file: '', offset: 0 };
  for (let after = 0; ; ) {
    const pages: PageRow[] = await rows(
      `
      SELECT p.id, p.member, m.id AS by, p.site::text AS site, k.id IS NOT NULL AS known, p.url, p.outcome, p.file, p."offset"
      FROM (SELECT * FROM ${s}.page WHERE id > $1 ORDER BY id LIMIT ${PAGES_AT_ONCE}) p
      LEFT JOIN ${s}.site k ON k.id = p.site LEFT JOIN ${s}.member m ON m.id = p.member ORDER BY p.id`,
      [after],
    );
    for (const page of pages) {
      const { url, outcome, file, offset } = page;
      meet(url, true);
      count(counted, `settled ${outcome}`);
      const answered = outcome in ANSWERED_OUTCOMES;
      if (answered) count(counted, 'pages');
      if (!page.known) wrong(`the page ${url} belongs to site ${page.site}, which is not there`);
      if (page.by === null) wrong(`the page ${url} was settled by member ${page.member}, which is not there`);
      if (!answered && file !== null)
        wrong(`the page ${url} is not right: its outcome is ${outcome}, but it has a record`);
      if (file === null || page.member !== member) continue;
      inOrder &&= file > last.file || (file === last.file && offset >= last.offset);
      last = { file, offset };
    }
    if (pages.length < PAGES_AT_ONCE) return inOrder;
    after = pages.at(-1)!.id;
  }
};

const compare = ({ counted, wrong }: Course, { sites, settled, ...census }: Census): void => {
  const said: Counted = { sites: sites.known, sites_parked: sites.parked, sites_held: sites.held };
  for (const name of ['waiting', 'leased', 'parked', 'held', 'pages'] as const) said[name] = census[name];
  for (const [outcome, n] of Object.entries(settled)) said[`settled ${outcome}`] = n;
  for (const name of new Set([...Object.keys(said), ...Object.keys(counted)])) {
    const [says, is] = [said[name] ?? 0, counted[name] ?? 0];
    if (says !== is) wrong(`the counter "${name}" says ${writeCount(says)}, but there are ${writeCount(is)}`);
  }
};

/**
 * Pages are settled in the order of the archive, so their numbers give it without an index; where they do not, the
 * server sorts.
 */
async function* placedOf(
  { rows, schema: s }: Look,
  { member, inOrder }: { readonly member: number; readonly inOrder: boolean },
): AsyncGenerator<PlacedPage, void, undefined> {
  const place = inOrder ? 'p.id' : 'p.file COLLATE "C", p."offset", p.id';
  for (let last: (PlacedPage & { readonly id: number }) | null = null; ; ) {
    const behind = inOrder ? '(p.id) > ($2)' : '(p.file COLLATE "C", p."offset", p.id) > ($3, $4, $2)';
    const found: Record<string, unknown>[] = await rows(
      `
      SELECT ${PAGE_SELECT} FROM (SELECT * FROM ${s}.page p WHERE p.member = $1 AND p.file IS NOT NULL AND ${behind} ORDER BY ${place} LIMIT ${PLACED_AT_ONCE}) p
      JOIN ${s}.site k ON k.id = p.site ORDER BY ${place}`,
      [member, last?.id ?? 0, ...(inOrder ? [] : [last?.place?.file ?? '', last?.place?.offset ?? -1])],
    );
    for (const row of found) yield toPage(row);
    if (found.length < PLACED_AT_ONCE) return;
    last = { ...toPage(found.at(-1)!), id: found.at(-1)!.id as number };
  }
}
