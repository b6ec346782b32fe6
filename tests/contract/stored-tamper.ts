/**
 * How the tests of a store damage a crawl that lies in it.
 *
 * What the survey must find is the same for every store (`stored-damages.ts`); how to plant it is known to the tests of
 * each store alone. They hand a `Tamper` to `storedCrawlContract`, with what they can do:
 *
 * * Each function makes the smallest change to what lies in the store, past all its code: an UPDATE, an HSET. It is
 *   given the place that `open` made, so that place can carry what the change needs: a path, a key, a connection.
 * * What it does not name stays as it is, all counters included. The store is closed by then, and nobody looks.
 * * What a store notices of itself because of it (an index that disagrees, a counter of its own) may be told as `wrong`
 *   besides; that is not compared.
 * * What a store cannot have (a counter that it does not keep, a key that the database enforces) is omitted: those
 *   tests are not registered, and one diagnostic lists what is missing.
 *
 * Damage that only one store can have is told by its own tests.
 */

import type { SiteState } from '../../src/contract/views.ts';
import type { StoredPlace } from './stored-scene.ts';

export interface Tamper<P extends StoredPlace> {
  /** The site counts that many waiting links. */
  setWaiting(place: P, site: string, count: number): unknown;
  /** The site counts that many pages. */
  setPages(place: P, site: string, count: number): unknown;
  /** The site is noted to be in that state, or in one that does not exist (null); its queue and lease stay. */
  setState(place: P, site: string, state: SiteState | null): unknown;
  /** The site is noted to lie in that shard. */
  setShard(place: P, site: string, shard: number): unknown;
  /** The link is in the queue of its site no more. */
  loseLink(place: P, site: string, url: string): unknown;
  /** The link stands at the end of that queue, too: of depth 0, found nowhere, never tried. */
  addLink(place: P, site: string, url: string): unknown;
  /** The queue of the site, or a part of it, cannot be read. */
  breakQueue(place: P, site: string): unknown;
  /** The link under visit is lost; the site is still noted as leased. */
  loseLease(place: P, site: string): unknown;
  /** The link under visit cannot be read. */
  breakLease(place: P, site: string): unknown;
  /** The fingerprint of the URL is gone. */
  forgetUrl(place: P, url: string): unknown;
  /** The fingerprint of a URL that no link has is there. */
  addUrl(place: P, url: string): unknown;
  /** The fingerprint of the URL is there twice. */
  repeatUrl(place: P, url: string): unknown;
  /** The row of the page is gone. */
  losePage(place: P, url: string): unknown;
  /** The row of the page is there twice, under two numbers. */
  repeatPage(place: P, url: string): unknown;
  /** The row of the page belongs to a site that is not there. */
  orphanPage(place: P, url: string): unknown;
  /** The row of the page has the key of another URL, where rows have one. */
  misplacePage(place: P, url: string): unknown;
  /** The counter of pages, or of an outcome, is off by that many. */
  addToPages(place: P, counter: 'pages' | 'settled fetched' | 'settled gave-up', by: number): unknown;
  /** The counter of links in that state is off by that many. */
  addToLinks(place: P, counter: 'waiting' | 'parked' | 'held', by: number): unknown;
  /** The counter of sites, or of those in that state, is off by that many. */
  addToSites(place: P, counter: 'sites' | 'sites parked' | 'sites held', by: number): unknown;
  /** A block of waiting links is in no queue. */
  addStrayBlock(place: P, site: string): unknown;
  /** The rules of an origin cannot be read. */
  breakRobots(place: P, origin: string): unknown;
  /** The texts of long rules of that origin's site are gone. */
  loseRules(place: P, origin: string): unknown;
  /** So much is destroyed that the store says of itself: nothing here can be trusted. */
  ruin(place: P): unknown;
}
