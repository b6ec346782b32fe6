/**
 * One visit, from a leased link to its settlement: the whole way of the data is in this file.
 *
 *   scope -> robots -> fetch -> parse -> admit its links -> settle the page
 *
 * Whatever happens, exactly one settlement leaves here, and it is the last thing that does.
 */

import type { Answered, Exchange, Failed } from '../model/exchange.ts';
import { REDIRECT_HOPS_MAX, type Link } from '../model/link.ts';
import { failedName, type OutcomeName } from '../model/outcome.ts';
import type { RequestContext } from '../model/request.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { Page } from '../model/page.ts';
import type { RecordGroup, Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import { CRAWL_DELAY_MAX_MS, nextPace, type PaceEvent } from '../politeness/pace.ts';
import { readRetryAfterMs } from '../politeness/retry-after.ts';
import { robotsDecision } from '../politeness/robots.ts';
import { canonicalize, type Address } from '../url/canonical.ts';
import { readLocation } from '../url/location.ts';
import { judgeLink } from '../url/scope.ts';
import { unansweredPage } from '../model/unanswered-page.ts';
import { answeredPage } from './page.ts';
import type { Parsed, VisitParts } from './parts.ts';
import { isUnreachable, requestRobots, unreadRecord } from './robots-request.ts';
import { bodyBytesMaxOf, isRead, namedSitemaps, routed } from './sitemaps.ts';
import { TRIES_MAX } from '../contract/store.ts';

/** A connection is kept for the site's next visit when that comes this soon. */
const KEEP_WITHIN_MS = 2_000;

/** A visit gives up this long before its lease runs out: time for what is on its way to arrive. */
const LEASE_MARGIN_MS = 5_000;

/** What the steps of a visit have gathered so far. */
interface VisitState {
  readonly visit: Visit;
  readonly signal: AbortSignal;
  /** The rules in force; null until they are known. */
  robots: RobotsRecord | null;
  /** The rules in force, if they were fetched in this visit and are to be kept. */
  fetchedRobots: RobotsRecord | null;
  robotsResponses: readonly Answered[];
  /** What the robots.txt says of sitemaps, if it was fetched in this visit. */
  sitemapLines: readonly string[];
  /** The sitemaps to admit with this visit, whatever becomes of its page. */
  sitemaps: readonly Link[];
  /** The rule that allowed or forbade the page. */
  rule: string;
  /** Exchanges whose bodies are in memory until the visit ends. */
  readonly exchanges: Exchange[];
}

/** How a visit ends; `settle` turns it into a settlement. */
interface End {
  readonly fate: Settlement['fate'];
  readonly event: PaceEvent;
  readonly page?: Page;
  readonly links?: readonly Link[];
  readonly records?: RecordGroup | null;
  /** The site's failures stay what they were before. */
  readonly saysNothing?: boolean;
}

export const visit = async (given: VisitParts, leased: Visit, stop: AbortSignal): Promise<Settlement> => {
  const { parts, signal, done } = untilDeadline(given, leased, stop);
  const state: VisitState = {
    visit: leased,
    signal,
    robots: leased.robots,
    fetchedRobots: null,
    robotsResponses: [],
    sitemapLines: [],
    sitemaps: [],
    rule: '',
    exchanges: [],
  };
  let end: End;
  try {
    end = await follow(parts, state);
    if (state.sitemaps.length > 0) end = { ...end, links: [...state.sitemaps, ...(end.links ?? [])] };
  } finally {
    done();
    for (const exchange of state.exchanges) parts.forget(exchange);
  }
  const settlement = settlementOf(parts, state, end);
  // Links first, page last: a crash in between repeats the page, never loses a link.
  if (end.links && end.links.length > 0) await parts.admit(end.links);
  await parts.settle(settlement);
  return settlement;
};

/** A lease that has run out may be given to another: some time before that, this visit sends no more requests. */
const untilDeadline = (
  parts: VisitParts,
  { leaseUntil }: Visit,
  stop: AbortSignal,
): { parts: VisitParts; signal: AbortSignal; done: () => void } => {
  if (leaseUntil === null) return { parts, signal: stop, done: () => {} };
  const { clock } = parts;
  const over = new AbortController();
  const ended = new AbortController();
  const until = leaseUntil - LEASE_MARGIN_MS;
  void clock.sleep(until - clock.now(), ended.signal).then(() => over.abort());
  const fetch: VisitParts['fetch'] = (request, signal) => {
    // The claim may have been long on its way; and a process that was stopped for a while hears of a response before
    // its timers ring.
    if (clock.now() >= until) over.abort();
    return parts.fetch({ ...request, notAfter: until }, signal);
  };
  return { parts: { ...parts, fetch }, signal: AbortSignal.any([stop, over.signal]), done: () => ended.abort() };
};

const follow = async (parts: VisitParts, state: VisitState): Promise<End> => {
  const { link } = state.visit;
  const address = canonicalize(link.url);
  if (typeof address === 'string') return unvisited(parts, state, address);
  const refusal = judgeLink(parts.scope, address, link);
  if (refusal) return unvisited(parts, state, refusal);

  const trouble = await learnRobots(parts, state, address);
  if (trouble) return trouble;
  state.sitemaps = namedSitemaps(parts, link, { origin: address.origin, named: state.sitemapLines });
  const { allowed, rule } = robotsDecision(state.robots!, address.path);
  state.rule = rule;
  if (!allowed)
    return recordsOnly(
      parts,
      state,
      unvisited(parts, state, state.robots!.verdict === 'too-large' ? 'robots-too-large' : 'robots-denied'),
    );

  const restMs = Math.max(parts.rules.pace.delayMs, state.visit.pace.delayMs, state.robots!.crawlDelayMs ?? 0);
  const keepMs = restMs <= KEEP_WITHIN_MS ? restMs + KEEP_WITHIN_MS : 0;
  const wantsBody = (status: number, headers: Readonly<Record<string, string>>): boolean =>
    isRead(parts, link, { status, headers });
  const exchange = await parts.fetch(
    {
      url: link.url,
      kind: link.sitemap ? 'sitemap' : 'page',
      bodyBytesMax: bodyBytesMaxOf(parts, link),
      wantsBody,
      keepMs,
      context: contextOf(parts, state.visit, state.robots),
    },
    state.signal,
  );
  state.exchanges.push(exchange);
  return exchange.kind === 'failed'
    ? recordsOnly(parts, state, failed(parts, state, exchange))
    : answered(parts, state, exchange);
};

/** The delays are those known when the visit began: what its own responses ask for is recorded with them. */
const contextOf = (
  { rules }: VisitParts,
  { site, lease, pace }: Visit,
  robots: RobotsRecord | null,
): RequestContext => ({
  site,
  lease,
  robots,
  restMs: pace.delayMs,
  delayMs: Math.max(rules.pace.delayMs, Math.min(pace.crawlDelayMs, CRAWL_DELAY_MAX_MS)),
});

/** Makes the rules of the link's origin known, asking for them if they are stale; otherwise the visit ends here. */
const learnRobots = async (parts: VisitParts, state: VisitState, address: Address): Promise<End | null> => {
  if (state.robots && state.robots.expiresAt > parts.clock.now()) return null;
  const result = await requestRobots(
    parts,
    { origin: address.origin, context: contextOf(parts, state.visit, null) },
    state.signal,
  );
  state.robotsResponses = result.responses;
  state.exchanges.push(...result.responses);
  if (result.kind === 'known') {
    state.robots = state.fetchedRobots = result.record;
    state.sitemapLines = result.sitemaps;
    return null;
  }
  const { last } = result;
  if (last.kind === 'failed' && (last.unsure || last.cause === 'address' || state.visit.link.fallback)) {
    return recordsOnly(parts, state, failed(parts, state, last));
  }
  state.fetchedRobots = unreadRecord(address.origin, last, state.robots);
  // The site is in trouble, not the link: it stays first in the queue, and this claim does not count.
  return recordsOnly(parts, state, { fate: 'returned', event: troubleEvent(parts, last) });
};

const failed = (parts: VisitParts, state: VisitState, exchange: Failed): End => {
  const { link, tries, pace } = state.visit;
  const event = troubleEvent(parts, exchange);
  if (exchange.unsure) {
    // The site may have seen the request, so its clock moves; but the failure says nothing about its health.
    return {
      fate: 'returned',
      event: { kind: 'answered', at: exchange.endedAt, responseMs: pace.responseMs },
      saysNothing: true,
    };
  }
  const page = unansweredPage({
    link,
    tries,
    outcome: failedName(exchange.cause),
    at: exchange.startedAt ?? exchange.endedAt,
    robots: state.rule,
    detail: exchange.detail,
  });
  if (exchange.cause === 'address')
    return { fate: 'settled', event: robotsAnswered(state) ? event : { kind: 'no-request' }, page };
  if (link.fallback && isUnreachable(exchange)) {
    const plain = canonicalize(link.url.replace('https:', 'http:'));
    if (typeof plain === 'object') {
      const http: Link = { ...link, url: plain.url, fallback: false, first: true };
      return {
        fate: 'settled',
        event: { kind: 'answered', at: exchange.endedAt, responseMs: pace.responseMs },
        page,
        links: [http],
      };
    }
  }
  return tries < TRIES_MAX ? { fate: 'retry', event } : { fate: 'settled', event, page };
};

const answered = async (parts: VisitParts, state: VisitState, exchange: Answered): Promise<End> => {
  const { link, tries } = state.visit;
  const { status, truncated } = exchange;
  const inTrouble = status >= 500 || status === 429 || truncated === 'disconnect';
  const event: PaceEvent = inTrouble
    ? troubleEvent(parts, exchange)
    : { kind: 'answered', at: exchange.answeredAt, responseMs: exchange.answeredAt - exchange.startedAt };
  if (inTrouble && tries < TRIES_MAX) return recordsOnly(parts, state, { fate: 'retry', event });

  const outcome = outcomeOf(parts, link, exchange);
  const target = outcome === 'redirected' ? redirectTarget(parts, link, exchange) : null;
  const parsed = await parts.parse({
    lease: state.visit.lease,
    robots: state.robotsResponses,
    page: exchange,
    read: outcome === 'fetched',
    sitemap: link.sitemap !== undefined,
  });
  if (parsed.kind === 'lost') return lost(parts, state, { parsed, event });
  const { findings } = parsed;
  const page = answeredPage({
    link,
    tries,
    exchange,
    parsed,
    robots: state.rule,
    outcome: outcome === 'redirected' && !target ? 'redirect-loop' : outcome,
    redirect: target?.url ?? (status >= 300 && status < 400 ? (exchange.headers.location ?? '') : ''),
  });
  const links = target?.link ? [target.link] : findings ? await routed(parts, link, findings) : [];
  return { fate: 'settled', event, page, links, records: parsed.records };
};

const outcomeOf = (parts: VisitParts, link: Link, exchange: Answered): OutcomeName => {
  const { status, headers } = exchange;
  if (status >= 200 && status < 300) return isRead(parts, link, exchange) ? 'fetched' : 'body-skipped';
  if (status >= 300 && status < 400) return headers.location === undefined ? 'odd-status' : 'redirected';
  if (status >= 400 && status < 500) return 'client-error';
  return status >= 500 && status < 600 ? 'server-error' : 'odd-status';
};

/** Where a redirect leads: its target, and the link to follow if it is wanted. Null when it leads nowhere. */
const redirectTarget = (
  parts: VisitParts,
  link: Link,
  exchange: Answered,
): { url: string; link: Link | null } | null => {
  const target = canonicalize(readLocation(exchange.headers.location!), link.url);
  if (typeof target === 'string' || target.url === link.url || link.hops >= REDIRECT_HOPS_MAX) return null;
  return { url: target.url, link: parts.router.redirect(link, target) };
};

/** The parsing thread died: a page that kills it is tried again, and given up after its tries. */
const lost = (
  parts: VisitParts,
  { visit: { link, tries }, rule }: VisitState,
  { parsed, event }: { parsed: Parsed & { kind: 'lost' }; event: PaceEvent },
): End => {
  if (!parsed.culprit) return { fate: 'returned', event };
  if (tries < TRIES_MAX) return { fate: 'retry', event };
  return {
    fate: 'settled',
    event,
    page: unansweredPage({ link, tries, outcome: 'parse-failed', at: parts.clock.now(), robots: rule }),
  };
};

/** A link that is settled without a request of its own. */
const unvisited = (parts: VisitParts, state: VisitState, outcome: OutcomeName): End => {
  const { link, tries } = state.visit;
  const last = state.robotsResponses.at(-1);
  const event: PaceEvent = last
    ? { kind: 'answered', at: last.answeredAt, responseMs: last.answeredAt - last.startedAt }
    : { kind: 'no-request' };
  return {
    fate: 'settled',
    event,
    page: unansweredPage({ link, tries, outcome, at: parts.clock.now(), robots: state.rule }),
  };
};

/** Archives the robots.txt of a visit that has no page to archive. */
const recordsOnly = async (parts: VisitParts, state: VisitState, end: End): Promise<End> => {
  if (!robotsAnswered(state)) return end;
  const parsed = await parts.parse({
    lease: state.visit.lease,
    robots: state.robotsResponses,
    page: null,
    read: false,
  });
  return parsed.kind === 'parsed' ? { ...end, records: parsed.records } : end;
};

const robotsAnswered = (state: VisitState): boolean => state.robotsResponses.length > 0;

const troubleEvent = (parts: VisitParts, exchange: Exchange): PaceEvent => {
  if (exchange.kind === 'failed')
    return { kind: 'trouble', at: exchange.endedAt, responseMs: null, retryAfterMs: null };
  const retryAfter = exchange.headers['retry-after'];
  return {
    kind: 'trouble',
    at: exchange.answeredAt,
    responseMs: exchange.answeredAt - exchange.startedAt,
    retryAfterMs: retryAfter === undefined ? null : readRetryAfterMs(retryAfter, parts.clock.now()),
  };
};

const settlementOf = (parts: VisitParts, state: VisitState, end: End): Settlement => {
  const { visit: leased } = state;
  const next = nextPace({
    pace: leased.pace,
    event: end.event,
    crawlDelayMs: state.robots?.crawlDelayMs ?? null,
    settings: parts.rules.pace,
  });
  return {
    site: leased.site,
    lease: leased.lease,
    fate: end.fate,
    page: end.page ?? null,
    records: end.records ?? null,
    pace: end.saysNothing ? { ...next.pace, failures: leased.pace.failures } : next.pace,
    parked: next.parked,
    robots: state.fetchedRobots,
  };
};
