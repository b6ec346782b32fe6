/**
 * One visit, from a leased link to its settlement: the whole way of the data is in this file.
 *
 *   scope -> robots -> fetch -> parse -> admit its links -> settle the page
 *
 * A link whose origin is in trouble leaves this way for a while (visit/trouble.ts).
 *
 * Whatever happens, exactly one settlement leaves here, and it is the last thing that does.
 */

import type { Answered, Exchange, Failed } from '../model/exchange.ts';
import { REDIRECT_HOPS_MAX, type Link } from '../model/link.ts';
import { failedName, type OutcomeName } from '../model/outcome.ts';
import type { RequestContext } from '../model/request.ts';
import { digestOf, withoutLongRules, withRules, type CarriedRobots } from '../model/long-rules.ts';
import { isInTrouble, type RobotsRecord } from '../model/robots.ts';
import type { Page } from '../model/page.ts';
import type { Destination, RecordGroup, Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import { afterPageFailed, afterUnreachable } from '../politeness/origin.ts';
import { CRAWL_DELAY_MAX_MS, nextPace, type PaceEvent } from '../politeness/pace.ts';
import { readRetryAfterMs } from '../politeness/retry-after.ts';
import { robotsDecision } from '../politeness/robots.ts';
import { robotsDigest } from '../politeness/robots-digest.ts';
import { canonicalize, type Address } from '../url/canonical.ts';
import { readLocation } from '../url/location.ts';
import { isSideQueue } from '../url/side-queue.ts';
import { unansweredPage } from '../model/unanswered-page.ts';
import { untilDeadline } from './deadline.ts';
import { robotsEvent, troubleEvent } from './pace-event.ts';
import { answeredPage, outcomeOf } from './page.ts';
import type { Parsed, VisitParts } from './parts.ts';
import { refusalOf, refusedFor } from './wanted.ts';
import { isUnreachable, requestRobots } from './robots-request.ts';
import { bodyBytesMaxOf, isWanted, namedSitemaps, routed } from './sitemaps.ts';
import { asideOf, hasNoAddress, isOfOrigin, settleAside, waits } from './trouble.ts';
import { disregarded, settleLonger, underRules } from './under-rules.ts';
import { TRIES_MAX } from '../contract/store.ts';

/** A connection is kept for the site's next visit when that comes this soon. */
const KEEP_WITHIN_MS = 2_000;

/** What the steps of a visit have gathered so far. */
interface VisitState {
  readonly visit: Visit;
  readonly signal: AbortSignal;
  /** What is not routed by then is left: the link waits again. */
  readonly stop: AbortSignal;
  /** The record in force; null until it is known. Long rules are not in it: visits under way would hold them all. */
  robots: CarriedRobots | null;
  /** What this visit learned of the origin, if that is to be kept; with its rules if they are new to the store. */
  learned: CarriedRobots | null;
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
  /** The link waits under its origin. */
  readonly to?: Destination;
  /** The site's failures stay what they were before. */
  readonly saysNothing?: boolean;
}

export const visit = async (given: VisitParts, leased: Visit, stop: AbortSignal): Promise<Settlement> => {
  const ruled = underRules(given, leased);
  const early = isSideQueue(leased.site)
    ? settleAside(leased, given.rules.pace.troubleDelayMs)
    : settleLonger(given.rules.pace, ruled.rules.pace, leased);
  if (early) {
    await given.settle(early);
    return early;
  }
  const { parts, signal, done } = untilDeadline(ruled, leased, stop);
  const state: VisitState = {
    visit: leased,
    signal,
    stop,
    robots: leased.robots,
    learned: null,
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

const follow = async (parts: VisitParts, state: VisitState): Promise<End> => {
  const { link } = state.visit;
  const address = canonicalize(link.url);
  if (typeof address === 'string') return unvisited(parts, state, address);
  const refusal = await refusalOf(parts, link, address);
  if (refusal) return refusedFor(state.visit, refusal, parts.rules.scopeName) ?? unvisited(parts, state, refusal);

  const known = state.robots;
  if (known && waits(known, state.visit.claimedAt))
    return { fate: 'returned', event: { kind: 'no-request' }, to: asideOf(state.visit, known, false) };
  const { origin } = address;
  const free = disregarded(parts.rules, known, { origin, now: parts.clock.now() });
  if (free) state.robots = free;
  const judged = free ?? (await knownRobots(parts, state)) ?? (await askRobots(parts, state, address));
  if ('fate' in judged) return judged;
  const rules = free ? null : robotsDigest(judged);
  const sitemaps = await namedSitemaps(parts, link, { origin, named: state.sitemapLines, stop: state.stop });
  if (!sitemaps) return cutShort(state);
  state.sitemaps = sitemaps;
  const { allowed, rule } = robotsDecision(judged, address.path);
  state.rule = rule;
  if (!allowed)
    return recordsOnly(
      parts,
      state,
      unvisited(parts, state, state.robots!.verdict === 'too-large' ? 'robots-too-large' : 'robots-denied'),
    );

  // Who names a delay means it from the first request on; where none is named, robots.txt and its page are one visit.
  const { own, delayMs } = parts.rules.pace;
  if (!own && state.learned && (state.learned.crawlDelayMs ?? 0) > 0)
    return recordsOnly(parts, state, { fate: 'returned', event: robotsEvent(state.robotsResponses) });

  const restMs = Math.max(delayMs, state.visit.pace.delayMs, own ? 0 : (state.robots!.crawlDelayMs ?? 0));
  const keepMs = restMs <= KEEP_WITHIN_MS ? restMs + KEEP_WITHIN_MS : 0;
  const wantsBody = (status: number, headers: Readonly<Record<string, string>>): boolean =>
    isWanted(parts, link, { status, headers });
  const exchange = await parts.fetch(
    {
      url: link.url,
      kind: link.sitemap ? 'sitemap' : 'page',
      bodyBytesMax: bodyBytesMaxOf(parts, link),
      wantsBody,
      keepMs,
      context: contextOf(parts, state.visit, rules),
    },
    state.signal,
  );
  state.exchanges.push(exchange);
  return exchange.kind === 'failed'
    ? recordsOnly(parts, state, failed(parts, state, exchange))
    : answered(parts, state, exchange);
};

/** The delays are those known when the visit began: what its own responses ask for is recorded with them. */
const contextOf = (parts: VisitParts, { site, lease, pace, entry }: Visit, rules: string | null): RequestContext => {
  const { pace: set, inForce } = parts.rules;
  const asked = set.own ? 0 : Math.min(pace.crawlDelayMs, CRAWL_DELAY_MAX_MS);
  const delayMs = Math.max(set.delayMs, asked);
  return { site, lease, rules, restMs: pace.delayMs, delayMs, entry, ...(inForce ? { rule: inForce } : {}) };
};

/** The rules of the link's origin as the crawl knows them; null when they are unknown, stale or lost. */
const knownRobots = async ({ clock, longRules }: VisitParts, state: VisitState): Promise<RobotsRecord | null> => {
  const { robots, visit: leased } = state;
  if (!robots || isInTrouble(robots) || robots.expiresAt <= clock.now()) return null;
  const digest = digestOf(robots);
  return withRules(robots, digest === null ? null : await longRules.text(digest, leased.site));
};

/** Asks the origin for its rules; where it does not say them, the visit ends here. */
const askRobots = async (parts: VisitParts, state: VisitState, address: Address): Promise<End | RobotsRecord> => {
  const result = await requestRobots(
    parts,
    { origin: address.origin, context: contextOf(parts, state.visit, null) },
    state.signal,
  );
  state.robotsResponses = result.responses;
  state.exchanges.push(...result.responses);
  if (result.kind === 'known') {
    const { record, long } = withoutLongRules(result.record);
    if (long) parts.longRules.put(long);
    state.robots = record;
    state.learned = result.record;
    state.sitemapLines = result.sitemaps;
    return result.record;
  }
  const { last } = result;
  const isPlainTried = state.visit.link.fallback && !hasNoAddress(last);
  const isOwnEnd = last.kind === 'failed' && (last.unsure || last.cause === 'address' || isPlainTried);
  return recordsOnly(parts, state, isOwnEnd ? failed(parts, state, last) : setAside(parts, state, last));
};

/** The origin is in trouble, not the link: this claim does not count, and the site goes on with its other links. */
const setAside = ({ rules, clock }: VisitParts, state: VisitState, last: Exchange): End => {
  const { pace, robots: former, link } = state.visit;
  const isAnswered = last.kind === 'answered';
  const at = isAnswered ? last.answeredAt : last.endedAt;
  const retryAfter = isAnswered ? last.headers['retry-after'] : undefined;
  state.learned = afterUnreachable(
    {
      origin: new URL(link.url).origin,
      former,
      at,
      cause: isAnswered ? String(last.status) : last.cause,
      isGone: !isAnswered && last.cause === 'no-name',
      retryAfterMs: retryAfter === undefined ? null : readRetryAfterMs(retryAfter, clock.now()),
    },
    rules.pace,
  );
  return {
    fate: 'returned',
    event: { kind: 'answered', at, responseMs: isAnswered ? at - last.startedAt : pace.responseMs },
    saysNothing: true,
    to: asideOf(state.visit, state.learned, true),
  };
};

const failed = (parts: VisitParts, state: VisitState, exchange: Failed): End => {
  const { link, tries, pace } = state.visit;
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
    return {
      fate: 'settled',
      event: robotsAnswered(state) ? troubleEvent(parts.clock.now(), exchange) : { kind: 'no-request' },
      page,
    };
  if (link.fallback && isUnreachable(exchange) && !hasNoAddress(exchange)) {
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
  // With an answer to robots.txt in this very visit, it can be reached.
  if ((isOfOrigin(exchange) && !robotsAnswered(state)) || !state.robots) return setAside(parts, state, exchange);
  return again(parts, state, exchange) ?? { fate: 'settled', event: troubleEvent(parts.clock.now(), exchange), page };
};

/** A page failed: it is tried again while it has tries left. Null when it has none. */
const again = (parts: VisitParts, state: VisitState, exchange: Exchange): End | null => {
  const cause = exchange.kind === 'failed' ? exchange.cause : String(exchange.status);
  state.learned = afterPageFailed(state.learned ?? state.robots!, { at: exchange.endedAt, cause }, parts.rules.pace);
  if (state.visit.tries >= TRIES_MAX) return null;
  const event = troubleEvent(parts.clock.now(), exchange);
  return state.learned.verdict === 'parked'
    ? { fate: 'returned', event, to: asideOf(state.visit, state.learned, true) }
    : { fate: 'retry', event };
};

const answered = async (parts: VisitParts, state: VisitState, exchange: Answered): Promise<End> => {
  const { link, tries } = state.visit;
  const { status, truncated } = exchange;
  const inTrouble = status >= 500 || status === 429 || truncated === 'disconnect';
  const event: PaceEvent = inTrouble
    ? troubleEvent(parts.clock.now(), exchange)
    : { kind: 'answered', at: exchange.answeredAt, responseMs: exchange.answeredAt - exchange.startedAt };
  const retry = inTrouble ? again(parts, state, exchange) : null;
  if (retry) return recordsOnly(parts, state, retry);
  if (!inTrouble && state.robots!.failures > 0) state.learned = { ...(state.learned ?? state.robots!), failures: 0 };

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
  const links = target?.link
    ? [target.link]
    : findings
      ? await routed(parts, { link, findings, stop: state.stop })
      : [];
  return links ? { fate: 'settled', event, page, links, records: parsed.records } : { fate: 'returned', event };
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

/** Stopped between the robots.txt and the page. The rules are not kept: the next visit reads their sitemaps again. */
const cutShort = (state: VisitState): End => {
  state.learned = null;
  return { fate: 'returned', event: robotsEvent(state.robotsResponses) };
};

/** A link that is settled without a request of its own. */
const unvisited = (parts: VisitParts, state: VisitState, outcome: OutcomeName): End => {
  const { link, tries } = state.visit;
  return {
    fate: 'settled',
    event: robotsEvent(state.robotsResponses),
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
    pace: end.saysNothing ? { ...next, failures: leased.pace.failures } : next,
    parked: false,
    robots: state.learned,
    ...(end.to ? { to: end.to } : {}),
  };
};
