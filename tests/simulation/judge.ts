/** After a run: were the promises kept? Every broken one is a sentence. */

import type { Census } from '../../src/model/census.ts';
import { knownTotal, settledTotal } from '../../src/model/census.ts';
import { ANSWERED_OUTCOMES } from '../../src/model/outcome.ts';
import { isArchived, type WarcPlace } from '../../src/model/page.ts';
import type { Holding } from './holding.ts';
import { INDEX_PATH, type ModelWeb } from './web.ts';

export interface Evidence {
  readonly web: ModelWeb;
  readonly holding: Holding;
  readonly census: Census;
  readonly records: readonly string[];
  readonly recordAt: (place: WarcPlace) => string;
  /** Links for which their site's queue had no room when they came. */
  readonly forgotten: ReadonlySet<string>;
  /** Kills and deaths that could have cost a slow page its tries. */
  readonly deaths: number;
  /** Requests hung or the store was gone: sites may be parked though they are sound. */
  readonly webFaults: boolean;
  /** Parse threads died: a page may have been the one that was blamed each time. */
  readonly parsersDied: boolean;
}

const KEPT = 20;

export const judge = ({
  web,
  holding,
  census,
  records,
  recordAt,
  forgotten,
  deaths,
  webFaults,
  parsersDied,
}: Evidence): string[] => {
  const broken: string[] = [];
  const accuse = (text: string): void => void (broken.length < KEPT && broken.push(text));

  // A link is in exactly one state.
  const stateOf = new Map<string, string>();
  for (const { url, state } of holding.unsettled) {
    if (stateOf.has(url)) accuse(`${url} is ${stateOf.get(url)} and ${state}`);
    stateOf.set(url, state);
  }
  const outcomeOf = new Map<string, string>();
  for (const page of holding.settled) {
    if (stateOf.has(page.url)) accuse(`${page.url} is settled and ${stateOf.get(page.url)}`);
    if (outcomeOf.has(page.url)) accuse(`${page.url} is settled twice`);
    outcomeOf.set(page.url, page.outcome);
    if (isArchived(page) && recordAt(page) !== `${page.url}\n`)
      accuse(`the record of ${page.url} is not where its row says`);
  }
  for (const text of holding.wrong) accuse(`a check of the store says: ${text}`);

  // Finished means finished, and the counters tell the truth.
  if (census.waiting > 0 || census.leased > 0)
    accuse(`finished with ${census.waiting} waiting and ${census.leased} leased`);
  for (const [url, state] of stateOf) if (state !== 'parked') accuse(`finished, but ${url} is ${state}`);
  if (knownTotal(census) !== stateOf.size + outcomeOf.size)
    accuse(`the counters know ${knownTotal(census)} links, the store holds ${stateOf.size + outcomeOf.size}`);
  if (settledTotal(census) !== outcomeOf.size)
    accuse(`the counters say ${settledTotal(census)} are settled, there are ${outcomeOf.size}`);
  if (census.parked !== stateOf.size) accuse(`the counters say ${census.parked} are parked, there are ${stateOf.size}`);

  // No link lost: all that settled pages link to is known.
  const known = (url: string): boolean => stateOf.has(url) || outcomeOf.has(url);
  const expect = (url: string, why: string): void =>
    void (known(url) || forgotten.has(url) || accuse(`${url} was lost; ${why}`));
  for (const url of web.seeds) expect(url, 'it is a seed');
  for (const [url, outcome] of outcomeOf) {
    const page = web.page(url);
    if (outcome === 'fetched')
      for (const href of [...(page?.hrefs ?? []), ...(page?.sitemaps ?? [])]) expect(href, `${url} links to it`);
    const { origin, hostname } = new URL(url);
    if (outcome === 'fetched' && web.plan.sitemaps && web.siteNamed(hostname).robots)
      expect(`${origin}/${INDEX_PATH}`, `the robots.txt of ${url} names it`);
    if (outcome === 'redirected' && page) expect(page.target, `${url} redirects to it`);
  }

  // Each link ended as it should.
  for (const [url, outcome] of outcomeOf) {
    const right = [...rightOutcomes(web, url, deaths), ...(parsersDied ? ['parse-failed'] : [])];
    if (!right.includes(outcome)) accuse(`${url} ended as ${outcome}, not as ${right.join(' or ')}`);
  }
  for (const url of stateOf.keys()) {
    const site = web.siteNamed(new URL(url).hostname);
    const health = web.originHealth(url);
    if (site.health === 'sound' && (health === 'sound' || health === 'flapping') && !webFaults)
      accuse(`${url} is parked, though its origin is sound`);
  }

  // One archive record per page, and none besides.
  const archived = new Map<string, number>();
  for (const url of records) if (url !== 'robots') archived.set(url, (archived.get(url) ?? 0) + 1);
  for (const [url, n] of archived) {
    if (n > 1) accuse(`${url} has ${n} archive records`);
    if (!outcomeOf.has(url)) accuse(`${url} has an archive record, but is not settled`);
  }
  for (const [url, outcome] of outcomeOf) {
    if (outcome in ANSWERED_OUTCOMES && !archived.has(url))
      accuse(`${url} is settled as ${outcome} without an archive record`);
  }
  return broken;
};

const rightOutcomes = (web: ModelWeb, url: string, deaths: number): string[] => {
  const page = web.page(url);
  const site = web.siteNamed(new URL(url).hostname);
  const gaveUp = deaths >= 8 ? ['gave-up'] : []; // CLAIMS_MAX: fewer deaths never cost an innocent link
  const hung = ['failed-response-timeout', 'failed-reset', ...gaveUp];
  const health = web.originHealth(url);
  // Nothing is settled as failed that was never asked for.
  if (health !== 'sound' && health !== 'flapping') return gaveUp;
  if (site.health === 'flaky')
    return [
      'fetched',
      'client-error',
      'server-error',
      'redirected',
      'robots-denied',
      'parse-failed',
      'gave-up',
      ...hung,
    ];
  const usual = (): string[] => {
    switch (page?.kind) {
      case undefined:
      case 'missing':
        return ['client-error'];
      case 'broken':
        return ['server-error'];
      case 'redirect':
        return ['redirected'];
      case 'private':
        return [site.robots ? 'robots-denied' : 'fetched'];
      case 'poison':
        return ['parse-failed', 'gave-up'];
      case 'hangs':
        return hung;
      case 'busy-once':
        // Tries are counted at the claim: after two deaths its first response may come on its last try.
        return deaths >= 2 ? ['fetched', 'server-error'] : ['fetched'];
      default:
        return ['fetched'];
    }
  };
  return [...usual(), ...gaveUp, ...(deaths < 0 ? hung : [])];
};
