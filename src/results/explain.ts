/** Why was this URL not crawled, or when will it be? */

import type { LinkView } from '../contract/views.ts';
import type { Link } from '../model/link.ts';
import { SCOPE_REFUSALS, type ScopeRefusal } from '../model/outcome.ts';
import { pagesMaxOf, sitePagesMaxOf } from '../model/site-budget.ts';
import type { PageRow } from '../model/page.ts';
import { isInTrouble } from '../model/robots.ts';
import { robotsDecision } from '../politeness/robots.ts';
import { canonicalize, type Address } from '../url/canonical.ts';
import { scopeNameIn } from '../folder/scope-name.ts';
import { originQueue, refusedQueue } from '../url/side-queue.ts';
import { robotsIgnoredFor } from '../url/site-rules.ts';
import { siteOf } from '../url/site.ts';
import { lastFailure } from './all-pages.ts';
import { answerOf, visitAtOf } from './explain/answer.ts';
import type { ExplainParts, Found, RobotsAnswer } from './explain/found.ts';
import { adviceOf, notesOf } from './explain/notes.ts';
import type { ReasonName } from './explain/reasons.ts';
import { scopeNow, type ScopeAnswer } from './explain/scope-now.ts';

export interface Explanation {
  readonly url: string;
  readonly reason: ReasonName;
  /** One sentence or two. */
  readonly answer: string;
  readonly state: LinkView['state'];
  readonly view: LinkView | null;
  readonly robots: RobotsAnswer | null;
  /** Why it is not wanted by the settings now in force; null when it is. */
  readonly scope: ScopeAnswer | null;
  /** When its turn comes, at a guess. */
  readonly visitAt: number | null;
  readonly notes: readonly string[];
  /** Commands that help. */
  readonly advice: readonly string[];
}

/** A scheme; what has digits after its colon is a host with a port. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d)/i;

export const explain = async (parts: ExplainParts): Promise<Explanation> => {
  const text = parts.url.trim();
  if (SCHEME.test(text)) return explainOne(parts, text);
  // Without a scheme it may be known by either; https is what a seed is tried with first.
  const [secure, plain] = [await explainOne(parts, `https://${text}`), await explainOne(parts, `http://${text}`)];
  return secure.state === 'unknown' && plain.state !== 'unknown' ? plain : secure;
};

const explainOne = async (parts: ExplainParts, text: string): Promise<Explanation> => {
  const address = canonicalize(text);
  if (typeof address === 'string') return impossible(text, address);
  const found = await lookUp(parts, address);
  const { view, robots, scope, reason } = found;
  return {
    url: address.url,
    reason,
    answer: answerOf(found),
    state: view.state,
    view,
    robots,
    scope,
    visitAt: view.open && view.site && visitAtOf(view.open, view.site, found),
    notes: await notesOf(found),
    advice: await adviceOf(found),
  };
};

const impossible = (url: string, refusal: ScopeRefusal): Explanation => ({
  url,
  reason: refusal,
  answer: `No crawl can have it: ${SCOPE_REFUSALS[refusal]}.`,
  state: 'unknown',
  view: null,
  robots: null,
  scope: { refusal, says: SCOPE_REFUSALS[refusal], widen: null },
  visitAt: null,
  notes: [],
  advice: [],
});

const lookUp = async ({ url: _, ...parts }: ExplainParts, address: Address): Promise<Found> => {
  const { crawl, now } = parts;
  const { origin } = address;
  const site = siteOf(address.host);
  const view = await viewOf(parts, address, site);
  const scope = await scopeNow({ ...parts, address, link: view.open?.link ?? asFound(address, site, view.page) });
  const [known = null] = await crawl.robots([origin]);
  const isIgnored = robotsIgnoredFor(parts.settings.sites, address.host) !== null;
  const record = known && !isInTrouble(known) && !isIgnored ? known : null;
  const robots = record && {
    origin,
    ...robotsDecision(record, address.path),
    fetchedAt: record.fetchedAt,
    stale: record.expiresAt <= now,
  };
  const trouble = known && isInTrouble(known) ? known : null;
  const isSlowed = trouble === null && view.open !== null && (view.site?.failures ?? 0) > 0;
  const looked = {
    ...parts,
    address,
    origin,
    view,
    scope,
    robots,
    lastFailure: isSlowed ? await lastFailure(crawl, site) : null,
    trouble,
  };
  return { ...looked, reason: await reasonOf(looked, record?.verdict === 'too-large') };
};

/** A link waits in the queue of its site, in that of its origin in trouble, or in that of links not wanted for now. */
const viewOf = async (
  { crawl, dir, settings }: Pick<ExplainParts, 'crawl' | 'dir' | 'settings'>,
  { url, origin }: Address,
  site: string,
): Promise<LinkView> => {
  const view = await crawl.link(url, site);
  // A URL that is known and not in the queue of its site may be in another one, before another member has settled it.
  if (view.page || view.open || view.state === 'leased') return view;
  for (const queue of [originQueue(site, origin), refusedQueue(site, scopeNameIn(dir, settings))]) {
    const aside = await crawl.link(url, queue);
    if (aside.open) return aside;
  }
  return view;
};

/** A link that is not known has no depth: it is judged as one that a seed's page has. */
const asFound = ({ url }: Address, site: string, page: PageRow | null): Link => ({
  url,
  site,
  depth: page?.depth ?? 1,
  via: page?.via ?? '',
  hops: 0,
  fallback: false,
  first: false,
});

/** What a person said comes before what a site says, and that before what only takes time. */
const reasonOf = async (
  { view, scope, robots, trouble, settings, crawl }: Omit<Found, 'reason'>,
  tooLarge: boolean,
): Promise<ReasonName> => {
  const { page, open, site } = view;
  if (page) return page.outcome;
  if (view.state === 'leased') return 'under-visit';
  if (view.state === 'settled') return 'settled-elsewhere';
  if (scope) return scope.refusal;
  if (!open || !site) return 'unknown';
  if (robots && !robots.allowed && !robots.stale) return tooLarge ? 'robots-too-large' : 'robots-denied';
  if (view.state === 'parked' || trouble?.verdict === 'parked') return 'parked';
  // A site over its budget is held when it is claimed next; from here on its links are not visited.
  const pagesMax = pagesMaxOf(sitePagesMaxOf(settings), site.site);
  if (view.state === 'held' || (pagesMax !== null && site.pages >= pagesMax)) return 'held';
  if (settings.maxPages !== null && (await crawl.census()).pages >= settings.maxPages) return 'max-pages';
  return trouble || site.failures > 0 ? 'in-trouble' : 'waiting';
};
