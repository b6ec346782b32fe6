/**
 * Meets every link of a stored crawl once and counts: is each in exactly one state, and do counters and the
 * fingerprints of known URLs say the same?
 *
 * Memory: 12 bytes per URL ever seen (the fingerprints, as a running crawl has them) and about 20 per site; what is
 * wrong is kept besides. Nothing grows with the number of pages.
 */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Found, FoundSite, FoundTally, StoredPage } from '../../contract/walk.ts';
import { createFingerprintCounts, type FingerprintCounts } from '../../lib/fingerprint-counts.ts';
import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import { knownTotal, type Census } from '../../model/census.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { isArchived } from '../../model/page.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { isSideQueue } from '../../url/side-queue.ts';
import { shardOf } from '../../url/shard.ts';

/** Something that is not as it should be. */
export type Fault =
  /** `row` is that of the page, if the link is settled. */
  | {
      readonly kind: 'link-twice' | 'link-unseen';
      readonly url: string;
      readonly print: bigint;
      readonly site: string;
      readonly row: number | null;
    }
  | { readonly kind: 'queue'; readonly site: string; readonly says: string }
  | { readonly kind: 'page'; readonly row: number; readonly url: string; readonly says: string }
  | { readonly kind: 'row'; readonly says: string }
  /** Links wait, but the site is not visited; or it would be visited for none. */
  | { readonly kind: 'rest'; readonly site: string; readonly waits: boolean }
  | {
      readonly kind: 'count';
      readonly site: string;
      readonly what: 'waiting' | 'pages';
      readonly is: number;
      readonly said: number;
    }
  | { readonly kind: 'counter'; readonly name: string; readonly is: number; readonly said: number }
  | Extract<Found, { kind: 'wrong' }>;

export interface Survey {
  readonly census: Census;
  /** What rows do not tell. */
  readonly tally: FoundTally;
  readonly links: number;
  readonly sites: number;
  /** Whether this member's pages follow the order of their places in the archive. */
  readonly inOrder: boolean;
  readonly faults: readonly Fault[];
  /** Fingerprints that no link has. */
  readonly lost: FingerprintTable;
  /** Settled links whose rows are not at hand, or nowhere: how many by outcome, and how many pages of each site. */
  readonly unmet: Unmet;
  /** Fingerprints that are there more than once. */
  readonly repeated: number;
}

export interface Unmet {
  readonly links: number;
  readonly settled: Readonly<Record<string, number>>;
  readonly pages: ReadonlyMap<string, number>;
}

export interface SurveyOptions {
  /**
   * How many settled links have rows that are not at hand, because members keep them: asked when all rows at hand were
   * met. Null when nobody knows, which is the rule where members have settled something elsewhere.
   */
  readonly rowsElsewhere?: (tally: FoundTally) => number | null;
  /** Null when nobody knows how many there should be. */
  readonly shards: number | null;
  /** Whether an answer must have a record: not when nothing was kept at some time, or when nobody knows. */
  readonly needsPlace: boolean;
  readonly onProgress: (linksDone: number, linksTotal: number) => void;
}

const PROGRESS_EVERY = 1_000;
/** What the counters of settled links begin with, before the outcome. */
const SETTLED = 'settled ';
/** Fingerprints that there is room for before they come, about 120 MB: the counters that tell how many may be wrong. */
const ROOM_MAX = 10_000_000;

/** What the parts of a survey share. */
interface Findings extends SurveyOptions {
  readonly faults: Fault[];
  /** Fingerprints whose link was not met yet. */
  readonly seen: FingerprintTable;
  /** Links whose fingerprint was not there: met before, or never known. */
  readonly suspects: Extract<Fault, { kind: 'link-twice' | 'link-unseen' }>[];
  readonly sitePages: FingerprintCounts;
  /** The counters as the rows say, by the names of the census. */
  readonly counted: Map<string, number>;
  readonly total: number;
  links: number;
  repeated: number;
  /** Pages that the sites count themselves. */
  pagesSaid: number;
}

/** Null when the store says of itself that nothing in it can be trusted: `faults` has why. */
export const survey = async (
  crawl: StoredCrawl,
  options: SurveyOptions,
): Promise<{ readonly faults: readonly Fault[]; readonly whole: Survey | null }> => {
  const first = await ownFaults(crawl);
  if (first.some(({ isFatal }) => isFatal)) return { faults: first, whole: null };
  const census = await crawl.census();
  // Somebody may have been at work during that look: what counts is seen after the census, which tells of changes.
  const own = first.length > 0 ? await ownFaults(crawl) : first;
  const findings: Findings = {
    ...options,
    faults: [...own],
    // with room for all: a table that grows leaves its former rooms to the garbage collector
    seen: createFingerprintTable(Math.min(knownTotal(census), ROOM_MAX)),
    suspects: [],
    sitePages: createFingerprintCounts(),
    counted: new Map(),
    total: knownTotal(census),
    links: 0,
    repeated: 0,
    pagesSaid: 0,
  };
  const { inOrder, tally } = await walk(findings, crawl);
  await judgeSuspects(findings, crawl);
  const rowsElsewhere = options.rowsElsewhere ? options.rowsElsewhere(tally) : tally.elsewhere.length > 0 ? null : 0;
  const settled = compare(findings, census, rowsElsewhere);
  // Pages whose rows are not at hand are counted by their sites.
  const isUnmet = (one: Fault): one is SiteCount =>
    rowsElsewhere !== 0 && one.kind === 'count' && one.what === 'pages' && one.said > one.is;
  const faults = findings.faults.filter((one) => !isUnmet(one));
  const pages = new Map(findings.faults.filter(isUnmet).map(({ site, said, is }) => [site, said - is]));
  const unmet = { links: Object.values(settled).reduce((sum, n) => sum + n, 0), settled, pages };
  const { links, repeated, seen: lost, counted } = findings;
  return {
    faults,
    whole: {
      census,
      tally,
      links: links + unmet.links,
      unmet,
      sites: counted.get('sites') ?? 0,
      inOrder,
      faults,
      lost,
      repeated,
    },
  };
};

const ownFaults = async (crawl: StoredCrawl): Promise<Extract<Found, { kind: 'wrong' }>[]> => {
  const wrong: Extract<Found, { kind: 'wrong' }>[] = [];
  for await (const found of crawl.walk(['self'])) if (found.kind === 'wrong') wrong.push(found);
  return wrong;
};

/** Fingerprints first, then pages: a site's pages are counted when the site is met. */
const walk = async (findings: Findings, crawl: StoredCrawl): Promise<{ inOrder: boolean; tally: FoundTally }> => {
  const order = { isKept: true, file: '', offset: 0 };
  let site: OpenSite | null = null;
  let tally: FoundTally | null = null;
  const close = (): void => {
    if (site) judgeSite(findings, site);
    site = null;
  };
  for await (const found of crawl.walk(['seen', 'pages', 'sites', 'robots', 'tally'])) {
    switch (found.kind) {
      case 'seen':
        for (const print of found.prints) if (!findings.seen.add(print)) findings.repeated++;
        break;
      case 'pages':
        for (const page of found.pages) meetPage(findings, page, order);
        break;
      case 'site':
        close();
        site = { found, waiting: 0 };
        break;
      case 'queue':
        if (site) site.waiting += found.links.length;
        for (const { link } of found.links) meet(findings, { url: link.url, site: found.site, row: null });
        break;
      case 'broken':
        findings.faults.push({ kind: 'queue', site: found.site, says: found.says });
        break;
      case 'wrong':
        findings.faults.push(found);
        break;
      case 'tally':
        tally = found;
        break;
      case 'robots':
        break;
      default:
        found satisfies never;
    }
  }
  close();
  if (!tally) throw new Error('a walk over a crawl must end with its tally');
  return { inOrder: order.isKept, tally };
};

interface OpenSite {
  readonly found: FoundSite;
  /** Links of its queue that were met. */
  waiting: number;
}

const count = ({ counted }: Findings, name: string, by = 1): void => {
  if (by !== 0) counted.set(name, (counted.get(name) ?? 0) + by);
};

const meet = (findings: Findings, of: { url: string; site: string; row: number | null }): void => {
  const print = fingerprint(of.url);
  if (!findings.seen.remove(print)) findings.suspects.push({ kind: 'link-twice', print, ...of });
  if (++findings.links % PROGRESS_EVERY === 0) findings.onProgress(findings.links, findings.total);
};

const meetPage = (
  findings: Findings,
  page: StoredPage,
  order: { isKept: boolean; file: string; offset: number },
): void => {
  const { url, site, outcome, row } = page;
  meet(findings, { url, site, row });
  count(findings, `settled ${outcome}`);
  const answered = outcome in ANSWERED_OUTCOMES;
  if (answered) {
    count(findings, 'pages');
    findings.sitePages.add(fingerprint(site));
  }
  if (answered && findings.needsPlace && page.warc_file === null)
    findings.faults.push({ kind: 'page', row, url, says: `its outcome is ${outcome}, but it has no record` });
  else if (!answered && page.warc_file !== null)
    findings.faults.push({ kind: 'page', row, url, says: `its outcome is ${outcome}, but it has a record` });
  if (!isArchived(page) || !page.mine) return;
  const { warc_file: file, warc_offset: offset } = page;
  order.isKept &&= file > order.file || (file === order.file && offset >= order.offset);
  Object.assign(order, { file, offset });
};

const judgeSite = (findings: Findings, { found, waiting }: OpenSite): void => {
  const { faults } = findings;
  const { site, state, leased } = found;
  if (!isSideQueue(site)) count(findings, 'sites');
  findings.pagesSaid += found.pages;
  switch (state) {
    case 'parked':
    case 'held':
      count(findings, state, waiting);
      if (state === 'parked' || !isSideQueue(site)) count(findings, `sites ${state}`);
      break;
    case 'waiting':
    case 'leased':
    case 'idle':
      count(findings, 'waiting', waiting);
      break;
    case null:
      faults.push({ kind: 'row', says: `the site ${site} has an unknown state` });
      break;
    default:
      state satisfies never;
  }
  const shard = findings.shards === null ? found.shard : shardOf(site, findings.shards);
  if (found.shard !== shard)
    faults.push({ kind: 'row', says: `the site ${site} is in shard ${found.shard}, but belongs to ${shard}` });
  if ((state === 'waiting' && waiting === 0) || (state === 'idle' && waiting > 0))
    faults.push({ kind: 'rest', site, waits: waiting > 0 });
  if ((state === 'leased') !== (leased !== null))
    faults.push({
      kind: 'row',
      says: `the site ${site} is ${leased === null ? 'leased without a link' : 'not leased, but has a leased link'}`,
    });
  if (leased === 'unreadable') faults.push({ kind: 'row', says: `the leased link of the site ${site} cannot be read` });
  else if (leased) {
    count(findings, 'leased');
    meet(findings, { url: leased.link.url, site, row: null });
  }
  if (found.waiting !== waiting)
    faults.push({ kind: 'count', site, what: 'waiting', is: waiting, said: found.waiting });
  const pages = findings.sitePages.get(fingerprint(site));
  if (found.pages !== pages) faults.push({ kind: 'count', site, what: 'pages', is: pages, said: found.pages });
};

/** A fingerprint that is known after all was met twice; one that is not was never written down. */
const judgeSuspects = async ({ suspects, faults }: Findings, crawl: StoredCrawl): Promise<void> => {
  if (suspects.length === 0) return;
  const unknown = new Set(suspects.map(({ print }) => print));
  for await (const found of crawl.walk(['seen']))
    if (found.kind === 'seen') for (const print of found.prints) unknown.delete(print);
  for (const one of suspects) faults.push(unknown.delete(one.print) ? { ...one, kind: 'link-unseen' } : one);
};

type SiteCount = Extract<Fault, { kind: 'count' }>;

/**
 * Compares the counters with what was counted; gives by outcome how many links were settled whose rows are not at
 * hand: that many known URLs must be left when all others were met.
 */
const compare = (
  findings: Findings,
  { sites, settled, ...said }: Census,
  rowsElsewhere: number | null,
): Record<string, number> => {
  const { counted, faults, seen } = findings;
  // Where a site counts otherwise than its rows, that is told of the site: the counter agrees with one of them.
  if (rowsElsewhere !== 0 || findings.pagesSaid === said.pages) counted.set('pages', findings.pagesSaid);
  const counters = new Map<string, number>([
    ['sites', sites.known],
    ['sites parked', sites.parked],
    ['sites held', sites.held],
  ]);
  for (const name of ['waiting', 'leased', 'parked', 'held', 'pages'] as const) counters.set(name, said[name]);
  for (const [outcome, n] of Object.entries(settled)) counters.set(`settled ${outcome}`, n);
  const unmet: Record<string, number> = {};
  for (const name of new Set([...counters.keys(), ...counted.keys()])) {
    const [says, is] = [counters.get(name) ?? 0, counted.get(name) ?? 0];
    if (rowsElsewhere !== 0 && name.startsWith(SETTLED) && says > is) unmet[name.slice(SETTLED.length)] = says - is;
    else if (says !== is) faults.push({ kind: 'counter', name, is, said: says });
  }
  const elsewhere = Object.values(unmet).reduce((sum, n) => sum + n, 0);
  if (elsewhere > 0 && seen.size !== elsewhere)
    faults.push({ kind: 'counter', name: 'settled by other members', is: seen.size, said: elsewhere });
  else if (rowsElsewhere !== null && elsewhere !== rowsElsewhere)
    faults.push({ kind: 'counter', name: 'settled by other members', is: elsewhere, said: rowsElsewhere });
  return unmet;
};
