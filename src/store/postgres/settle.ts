/** Ends leases: records first, then rows, in one step. */

import { settledOf, StoreFault, type Archive, type Settled } from '../../frontier/store.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { Place, Settlement } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import { appendKept, keptBytes, placeOf } from '../kept.ts';
import { arrayOf, textsOf, type Book, type Value } from './book.ts';
import { storeFault } from './faults.ts';
import { putFirst } from './line.ts';
import { PAGE_COLUMNS, pageArrays } from './pages.ts';
import { keyOf, SETTINGS, SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_READY } from './schema.ts';

const FATES = { settled: 0, retry: 1, returned: 2 } as const satisfies Record<Settlement['fate'], number>;

const quoted = (name: string): string => `"${name}"`;
const pageNames = PAGE_COLUMNS.map(({ name }) => quoted(name)).join(', ');

/**
 * All of the batch or nothing: answers with the places of those whose lease is not in force, and has then written
 * nothing; with null when the batch is settled, also if that was an earlier call whose answer was lost.
 */
export const settleFunction = (s: string): string => `
  CREATE FUNCTION ${s}.settle(_member text, _run bigint, _batch bigint, _file text, _bytes bigint, _archived bigint,
    _site bigint[], _lease bigint[], _fate int[], _parked boolean[], _answered int[],
    _due_at float8[], _delay float8[], _crawl_delay float8[], _response float8[], _failures int[],
    ${PAGE_COLUMNS.map(({ name, type }) => `_page_${name} ${type}[]`).join(', ')},
    _origin text[], _fetched_at float8[], _expires_at float8[], _verdict text[], _rules text[], _robots_delay float8[],
    _counter text[], _by bigint[], _at float8)
  RETURNS int[] LANGUAGE plpgsql ${SETTINGS} AS $$
  DECLARE
    now_at float8;
    me record;
    refused int[];
    ended_n bigint;
    to_waiting bigint;
    to_parked bigint;
    sites_parked bigint;
  BEGIN
    PERFORM ${s}.fence(_member, _run);
    SELECT m.id, m.batch INTO me FROM ${s}.member m WHERE m.name = _member FOR UPDATE;
    IF me.batch >= _batch THEN RETURN NULL; END IF;
    PERFORM FROM ${s}.site k WHERE k.id = ANY (_site) ORDER BY k.id FOR UPDATE;
    now_at := ${s}.moment(_at);
    SELECT array_agg(u.nth::int) INTO refused
      FROM unnest(_site, _lease) WITH ORDINALITY AS u(site, lease, nth)
      LEFT JOIN ${s}.site k ON k.id = u.site AND k.state = ${SITE_LEASED} AND k.lease = u.lease AND (k.until IS NULL OR k.until > now_at)
      WHERE k.id IS NULL;
    IF refused IS NOT NULL THEN RETURN refused; END IF;

    WITH ended AS MATERIALIZED (
      SELECT k.id, k.head, k.head_at, k.tail, k.waiting, k.leased, k.leased_via, k.tries - CASE u.fate WHEN ${FATES.returned} THEN 1 ELSE 0 END AS tries,
        CASE u.fate WHEN ${FATES.settled} THEN 0 ELSE 1 END AS back, u.*
      FROM unnest(_site, _fate, _parked, _answered, _due_at, _delay, _crawl_delay, _response, _failures)
        AS u(site, fate, parked, answered, due_at, delay, crawl_delay, response, failures)
      JOIN ${s}.site k ON k.id = u.site
    ), returned AS MATERIALIZED (
      SELECT * FROM ended e WHERE e.fate = ${FATES.returned}
    ), ${putFirst(s, 'returned')}, put_last AS (
      INSERT INTO ${s}.block (site, position, via, links)
      SELECT e.id, e.tail + 1, e.leased_via, ARRAY[e.tries || ' ' || e.leased] FROM ended e WHERE e.fate = ${FATES.retry}
    ), rested AS (
      UPDATE ${s}.site k SET
        state = CASE WHEN e.parked THEN ${SITE_PARKED} WHEN e.waiting + e.back > 0 THEN ${SITE_READY} ELSE ${SITE_IDLE} END,
        waiting = e.waiting + e.back, pages = k.pages + e.answered,
        due_at = e.due_at, delay_ms = e.delay, crawl_delay_ms = e.crawl_delay, response_ms = e.response, failures = e.failures,
        head = CASE e.fate WHEN ${FATES.returned} THEN e.head - 1 ELSE e.head END, head_at = CASE e.fate WHEN ${FATES.returned} THEN 0 ELSE e.head_at END,
        tail = CASE e.fate WHEN ${FATES.retry} THEN e.tail + 1 ELSE e.tail END,
        lease = NULL, until = NULL, holder = NULL, tries = NULL, leased = NULL, leased_via = NULL
      FROM ended e WHERE k.id = e.id
    )
    SELECT count(*), coalesce(sum(CASE WHEN e.parked THEN -e.waiting ELSE e.back END), 0), coalesce(sum(e.waiting + e.back) FILTER (WHERE e.parked), 0),
      count(*) FILTER (WHERE e.parked) INTO ended_n, to_waiting, to_parked, sites_parked FROM ended e;

    INSERT INTO ${s}.page (member, ${pageNames})
      SELECT me.id, ${pageNames} FROM unnest(${PAGE_COLUMNS.map(({ name }) => `_page_${name}`).join(', ')}) WITH ORDINALITY AS u(${pageNames}, nth) ORDER BY u.nth;
    INSERT INTO ${s}.robots (origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms)
      SELECT u.* FROM unnest(_origin, _fetched_at, _expires_at, _verdict, _rules, _robots_delay) AS u(origin, fetched_at, expires_at, verdict, rules, delay) ORDER BY u.origin
      ON CONFLICT (origin) DO UPDATE SET fetched_at = EXCLUDED.fetched_at, expires_at = EXCLUDED.expires_at, verdict = EXCLUDED.verdict,
        rules = EXCLUDED.rules, crawl_delay_ms = EXCLUDED.crawl_delay_ms;
    UPDATE ${s}.member m SET batch = _batch, archive_file = _file, archive_bytes = _bytes WHERE m.name = _member;
    PERFORM ${s}.tell(_counter || ARRAY['waiting', 'leased', 'parked', 'sites_parked', 'archived', 'changes'],
      _by || ARRAY[to_waiting, -ended_n, to_parked, sites_parked, _archived, 1]);
    RETURN NULL;
  END $$;
`;

export const settle = async (book: Book, settlements: readonly Settlement[]): Promise<Settled> => {
  for (const { fate, page, site } of settlements) {
    if (fate === 'settled' && page === null)
      throw new StoreFault(`a settlement of ${site} has no page`, 'report this as a bug');
  }
  if (book.broken) throw book.broken;
  const leases = new Set<number>();
  let kept = settlements.filter(({ lease }) => !leases.has(lease) && leases.add(lease));
  while (kept.length > 0) {
    const refused = await settleAll(book, kept);
    if (refused === null) {
      book.dueHints.forget(kept.map(({ site }) => shardOf(site, book.shards)));
      break;
    }
    kept = kept.filter((_, i) => !refused.has(i + 1));
  }
  const settled = new Set(kept);
  return settledOf(settlements, (one) => settled.has(one));
};

/**
 * Records before the rows that point to them. A batch is the tail of the archive until it is answered, because the next
 * one waits for it: where one of its leases is not in force any more, the whole is cut off again, and goes in without
 * that one.
 */
const settleAll = async (book: Book, settlements: readonly Settlement[]): Promise<ReadonlySet<number> | null> => {
  const { archive } = book;
  const before = archive.end();
  let unsure = false;
  try {
    const places = append(archive, settlements);
    const values = valuesOf(settlements, { places, end: archive.end(), book });
    const [row] = await book.call<{ settle: number[] | null }>('settle', values, () => (unsure = true));
    const refused = row!.settle;
    if (refused === null) book.batch++;
    else archive.cut(before);
    return refused && new Set(refused);
  } catch (error) {
    // What may have been settled must not be cut: the next opening knows.
    if (unsure) book.broken = storeFault(error);
    else cutBack(book, before);
    throw storeFault(error);
  }
};

/** After a cut that failed nothing may be appended: it would lie behind bytes that belong to no page. */
const cutBack = (book: Book, end: ArchiveEnd): void => {
  try {
    book.archive.cut(end);
  } catch (error) {
    book.broken = storeFault(error);
  }
};

const append = (archive: Archive, settlements: readonly Settlement[]): (Place | null)[] => {
  try {
    const begins = appendKept(archive, settlements);
    // the server may be another machine: it would remember what this one forgets without power
    if (begins.some((begin) => begin !== null)) archive.sync();
    return settlements.map((settlement, i) => placeOf(settlement, begins[i]!));
  } catch (error) {
    throw storeFault(error);
  }
};

const isAnswered = ({ fate, page }: Settlement): boolean =>
  fate === 'settled' && Object.hasOwn(ANSWERED_OUTCOMES, page!.outcome);

const valuesOf = (
  settlements: readonly Settlement[],
  { places, end, book }: { places: readonly (Place | null)[]; end: ArchiveEnd; book: Book },
): Value[] => {
  const sites = settlements.map(({ site }) => keyOf(site));
  const rows = settlements.flatMap(({ fate, page }, i) =>
    fate === 'settled' ? [{ page: page!, site: sites[i]!, place: places[i]! }] : [],
  );
  const robots = [...new Map(settlements.flatMap(({ robots: one }) => (one ? [[one.origin, one]] : []))).values()];
  const counted = new Map<string, number>();
  for (const { page } of rows)
    counted.set(`settled ${page.outcome}`, (counted.get(`settled ${page.outcome}`) ?? 0) + 1);
  counted.set('pages', settlements.filter(isAnswered).length);
  const numbers = (of: (settlement: Settlement) => number | boolean): string => arrayOf(settlements.map(of));
  return [
    book.member,
    book.run,
    book.batch + 1,
    end.file,
    end.bytes,
    settlements.reduce((sum, one) => sum + keptBytes(one).length, 0),
    arrayOf(sites),
    numbers(({ lease }) => lease),
    numbers(({ fate }) => FATES[fate]),
    numbers(({ parked }) => parked),
    numbers((one) => Number(isAnswered(one))),
    numbers(({ pace }) => pace.dueAt),
    numbers(({ pace }) => pace.delayMs),
    numbers(({ pace }) => pace.crawlDelayMs),
    numbers(({ pace }) => pace.responseMs),
    numbers(({ pace }) => pace.failures),
    ...pageArrays(rows),
    textsOf(robots.map(({ origin }) => origin)),
    arrayOf(robots.map(({ fetchedAt }) => fetchedAt)),
    arrayOf(robots.map(({ expiresAt }) => expiresAt)),
    textsOf(robots.map(({ verdict }) => verdict)),
    textsOf(robots.map(({ rules }) => rules)),
    arrayOf(robots.map(({ crawlDelayMs }) => crawlDelayMs)),
    textsOf([...counted.keys()]),
    arrayOf([...counted.values()]),
    book.at(),
  ];
};
