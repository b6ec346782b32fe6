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
interface Course {
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
  const course: Course = {
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
    end = await follow(parts, course);
    if (course.sitemaps.length > 0) end = { ...end, links: [...course.sitemaps, ...(end.links ?? [])] };
  } finally {
    done();
    for (const exchange of course.exchanges) parts.forget(exchange);
  }
  const settlement = settlementOf(parts, course, end);
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

const follow = async (parts: VisitParts, course: Course): Promise<End> => {
  const { link } = course.visit;
  const address = canonicalize(link.url);
  if (typeof address === 'string') return unvisited(parts, course, address);
  const refusal = judgeLink(parts.scope, address, link);
  if (refusal) return unvisited(parts, course, refusal);

  const trouble = await learnRobots(parts, course, address);
  if (trouble) return trouble;
  course.sitemaps = namedSitemaps(parts, link, { origin: address.origin, named: course.sitemapLines });
  const { allowed, rule } = robotsDecision(course.robots!, address.path);
  course.rule = rule;
  if (!allowed)
    return recordsOnly(
      parts,
      course,
      unvisited(parts, course, course.robots!.verdict === 'too-large' ? 'robots-too-large' : 'robots-denied'),
    );

  const restMs = Math.max(parts.rules.pace.delayMs, course.visit.pace.delayMs, course.robots!.crawlDelayMs ?? 0);
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
      context: contextOf(parts, course.visit, course.robots),
    },
    course.signal,
  );
  course.exchanges.push(exchange);
  return exchange.kind === 'failed'
    ? recordsOnly(parts, course, failed(parts, course, exchange))
    : answered(parts, course, exchange);
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
const learnRobots = async (parts: VisitParts, course: Course, address: Address): Promise<End | null> => {
  if (course.robots && course.robots.expiresAt > parts.clock.now()) return null;
  const result = await requestRobots(
    parts,
    { origin: address.origin, context: contextOf(parts, course.visit, null) },
    course.signal,
  );
  course.robotsResponses = result.responses;
  course.exchanges.push(...result.responses);
  if (result.kind === 'known') {
    course.robots = course.fetchedRobots = result.record;
    course.sitemapLines = result.sitemaps;
    return null;
  }
  const { last } = result;
  if (last.kind === 'failed' && (last.unsure || last.cause === 'address' || course.visit.link.fallback)) {
    return recordsOnly(parts, course, failed(parts, course, last));
  }
  course.fetchedRobots = unreadRecord(address.origin, last, course.robots);
  // The site is in trouble, not the link: it stays first in the queue, and this claim does not count.
  return recordsOnly(parts, course, { fate: 'returned', event: troubleEvent(parts, last) });
};

const failed = (parts: VisitParts, course: Course, exchange: Failed): End => {
  const { link, tries, pace } = course.visit;
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
    robots: course.rule,
    detail: exchange.detail,
  });
  if (exchange.cause === 'address')
    return { fate: 'settled', event: robotsAnswered(course) ? event : { kind: 'no-request' }, page };
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

const answered = async (parts: VisitParts, course: Course, exchange: Answered): Promise<End> => {
  const { link, tries } = course.visit;
  const { status, truncated } = exchange;
  const inTrouble = status >= 500 || status === 429 || truncated === 'disconnect';
  const event: PaceEvent = inTrouble
    ? troubleEvent(parts, exchange)
    : { kind: 'answered', at: exchange.answeredAt, responseMs: exchange.answeredAt - exchange.startedAt };
  if (inTrouble && tries < TRIES_MAX) return recordsOnly(parts, course, { fate: 'retry', event });

  const outcome = outcomeOf(parts, link, exchange);
  const target = outcome === 'redirected' ? redirectTarget(parts, link, exchange) : null;
  const parsed = await parts.parse({
    lease: course.visit.lease,
    robots: course.robotsResponses,
    page: exchange,
    read: outcome === 'fetched',
    sitemap: link.sitemap !== undefined,
  });
  if (parsed.kind === 'lost') return lost(parts, course, { parsed, event });
  const { findings } = parsed;
  const page = answeredPage({
    link,
    tries,
    exchange,
    parsed,
    robots: course.rule,
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
  const target = canonicalize(exchange.headers.location!, link.url);
  if (typeof target === 'string' || target.url === link.url || link.hops >= REDIRECT_HOPS_MAX) return null;
  return { url: target.url, link: parts.router.redirect(link, target) };
};

/** The parsing thread died: a page that kills it is tried again, and given up after its tries. */
const lost = (
  parts: VisitParts,
  { visit: { link, tries }, rule }: Course,
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
const unvisited = (parts: VisitParts, course: Course, outcome: OutcomeName): End => {
  const { link, tries } = course.visit;
  const last = course.robotsResponses.at(-1);
  const event: PaceEvent = last
    ? { kind: 'answered', at: last.answeredAt, responseMs: last.answeredAt - last.startedAt }
    : { kind: 'no-request' };
  return {
    fate: 'settled',
    event,
    page: unansweredPage({ link, tries, outcome, at: parts.clock.now(), robots: course.rule }),
  };
};

/** Archives the robots.txt of a visit that has no page to archive. */
const recordsOnly = async (parts: VisitParts, course: Course, end: End): Promise<End> => {
  if (!robotsAnswered(course)) return end;
  const parsed = await parts.parse({
    lease: course.visit.lease,
    robots: course.robotsResponses,
    page: null,
    read: false,
  });
  return parsed.kind === 'parsed' ? { ...end, records: parsed.records } : end;
};

const robotsAnswered = (course: Course): boolean => course.robotsResponses.length > 0;

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

const settlementOf = (parts: VisitParts, course: Course, end: End): Settlement => {
  const { visit: leased } = course;
  const next = nextPace({
    pace: leased.pace,
    event: end.event,
    crawlDelayMs: course.robots?.crawlDelayMs ?? null,
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
    robots: course.fetchedRobots,
  };
};
