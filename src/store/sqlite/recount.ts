/** Counts a crawl again from its rows, and says what differs from its counters and its log of known URLs. */

import { StoreFault } from '../../contract/fault.ts';
import type { FoundSite } from '../../contract/walk.ts';
import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { isSideQueue } from '../../url/side-queue.ts';
import type { Connection } from './schema.ts';
import { printsAfter, seenLog } from './seen-log.ts';
import { countSettled, emptyTally, type Tally } from './tally.ts';
import { foundIn } from './walk.ts';

export interface Recount {
  /** The counters as the rows say; what rows do not tell is empty. */
  readonly tally: Tally;
  /** What sites have, where their rows say otherwise. */
  readonly sites: readonly CountedSite[];
  /** Fingerprints of the log that no link has. */
  readonly lost: FingerprintTable;
  /** How many fingerprints are in the log more than once. */
  readonly repeated: number;
  /** Fingerprints of links that the log lacks. */
  readonly unlogged: ReadonlySet<bigint>;
}

export interface CountedSite {
  readonly found: FoundSite;
  waiting: number;
  readonly pages: number;
}

const PROGRESS_EVERY = 1_000;

/** Throws a StoreFault where a link is in two states, or a queue is broken. */
export const recount = (connection: Connection, onProgress: (linksDone: number) => void): Recount => {
  const { db } = connection;
  const tally = emptyTally();
  const lost = createFingerprintTable(printsAfter(db, 0));
  const unlogged = new Set<bigint>();
  const sitePages = new Map<string, number>();
  const sites: CountedSite[] = [];
  let site: CountedSite | null = null;
  let repeated = 0;
  let links = 0;
  const meet = (url: string): void => {
    const print = fingerprint(url);
    if (!lost.remove(print)) {
      if (unlogged.has(print)) throw cannotFix(`${url} is there twice`);
      unlogged.add(print);
    }
    if (++links % PROGRESS_EVERY === 0) onProgress(links);
  };
  const endSite = (): void => {
    if (!site) return;
    countSite(tally, site);
    if (isWrong(site)) sites.push(site);
  };
  for (const found of foundIn(connection, '', ['seen', 'pages', 'sites'])) {
    if (found.kind === 'seen') for (const print of found.prints) repeated += lost.add(print) ? 0 : 1;
    else if (found.kind === 'pages') {
      for (const page of found.pages) {
        meet(page.url);
        countSettled(tally, page.outcome);
        if (page.outcome in ANSWERED_OUTCOMES) sitePages.set(page.site, (sitePages.get(page.site) ?? 0) + 1);
      }
    } else if (found.kind === 'site') {
      endSite();
      site = { found, waiting: 0, pages: sitePages.get(found.site) ?? 0 };
      if (found.leased === 'unreadable') throw cannotFix(`the leased link of the site ${found.site}`);
      if (found.leased) meet(found.leased.link.url);
    } else if (found.kind === 'queue') {
      site!.waiting += found.links.length;
      for (const { link } of found.links) meet(link.url);
    } else throw cannotFix('says' in found ? found.says : found.kind);
  }
  endSite();
  if (unlogged.size > 0) {
    for (const { prints } of seenLog(db))
      if (prints.some((print) => unlogged.has(print))) throw cannotFix('a link is in two states');
  }
  return { tally, sites, lost, repeated, unlogged };
};

const cannotFix = (what: string): StoreFault =>
  new StoreFault(`the repair met what it cannot fix: ${what}`, 'nothing was changed; restore the crawl from a copy');

const countSite = (tally: Tally, { found: { site, state, leased }, waiting }: CountedSite): void => {
  if (!isSideQueue(site)) tally.sites++;
  if (leased) tally.leased++;
  if (state === 'parked') tally.sitesParked++;
  if (state === 'held' && !isSideQueue(site)) tally.sitesHeld++;
  tally[state === 'parked' || state === 'held' ? state : 'waiting'] += waiting;
};

/** A site that is not leased and not set aside waits when links do, and is idle when none does. */
export const restOf = ({ found: { state }, waiting }: CountedSite): FoundSite['state'] =>
  state === 'waiting' || state === 'idle' ? (waiting > 0 ? 'waiting' : 'idle') : state;

const isWrong = (site: CountedSite): boolean => {
  const { found, waiting, pages } = site;
  return found.waiting !== waiting || found.pages !== pages || found.state !== restOf(site);
};
