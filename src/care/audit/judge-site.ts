/** The requests of one site, in order of time: do its visits keep their distance, and was each page allowed? */

import { CRAWL_DELAY_MAX_MS } from '../../politeness/pace.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { AuditedRequest } from './requests.ts';
import { violate, type Findings } from './findings.ts';
import { judgeRobots, noHistory, noteAsked, originOf, type Excuse, type RobotsHistory } from './judge-robots.ts';
import { exactly, timeOf } from './words.ts';

/**
 * Where processes share a store, their clocks may be so far apart (see lib/clock.ts): a shorter overlap of two of them
 * is none.
 */
const CLOCKS_APART_MS = 10;

/** The result of a request to an address that did not respond, when another of the same host was tried after it. */
const UNREACHED = 'refused';

/** Where a delay comes from. */
export type DelaySource = 'configured' | 'rule' | 'crawl-delay' | 'noted' | 'kept';
export interface Required {
  readonly ms: number;
  readonly source: DelaySource;
}

interface VisitSeen {
  readonly first: AuditedRequest;
  page: AuditedRequest | null;
}

export interface SiteHistory {
  readonly site: string;
  readonly robots: RobotsHistory;
  visit: VisitSeen | null;
  /** When the last request to the site so far ended, as its process noted it, and which one that was. */
  endedAt: number;
  latest: AuditedRequest | null;
  /**
   * When the last request ended, had none been longer than it may be. A process that stood still notes an end when it
   * wakes; meanwhile its lease ran out, and another process may visit the site.
   */
  heldUntil: number;
  visits: number;
}

export interface Judging {
  readonly findings: Findings;
  readonly excuse: Excuse;
  /** Told of every gap, for those who report on one site. */
  readonly onGap?: (gapMs: number, required: Required) => void;
}

export const beginSite = (site: string): SiteHistory => ({
  site,
  robots: noHistory(),
  visit: null,
  endedAt: -Infinity,
  latest: null,
  heldUntil: -Infinity,
  visits: 0,
});

/** The next request of the site. */
export const judgeRequest = (history: SiteHistory, request: AuditedRequest, judging: Judging): void => {
  const { findings } = judging;
  if (history.visit?.first.visit === request.visit) goOn(history.visit, request, findings);
  else begin(history, request, judging);
  noteEnd(history, request);
  if (request.kind !== 'follow') judgeSite(request, findings);
  if (request.kind === 'robots') noteAsked(history.robots, request);
  if (isPage(request) && !request.rule?.robotsIgnored) judgeRobots(history.robots, request, judging);
};

const noteEnd = (history: SiteHistory, request: AuditedRequest): void => {
  if (request.endedAt === null) return;
  history.heldUntil = Math.max(history.heldUntil, Math.min(request.endedAt, request.at + request.settings.timeoutMs));
  if (request.endedAt <= history.endedAt) return;
  history.endedAt = request.endedAt;
  history.latest = request;
};

const isPage = ({ kind }: AuditedRequest): boolean => kind === 'page' || kind === 'sitemap';

/** robots.txt, its redirects and one page are one visit. */
const goOn = (visit: VisitSeen, request: AuditedRequest, findings: Findings): void => {
  if (!isPage(request)) return;
  const { page } = visit;
  if (page && (page.url !== request.url || page.result !== UNREACHED)) {
    violate(findings, {
      kind: 'twice-in-visit',
      request,
      before: page,
      says: `the visit that requested ${page.url} at ${timeOf(page.at)} also requested ${request.url}, at ${timeOf(request.at)}`,
    });
  }
  visit.page = request;
};

const begin = (history: SiteHistory, request: AuditedRequest, { findings, onGap }: Judging): void => {
  const before = history.visit;
  if (before) {
    const required = requiredAfter(history, before, request);
    const gapMs = request.at - before.first.at;
    onGap?.(gapMs, required);
    if (gapMs < required.ms) {
      violate(findings, {
        kind: 'gap',
        request,
        before: before.first,
        requiredMs: required.ms,
        says: `${request.site} was visited at ${timeOf(before.first.at)} (${before.first.url}) and again ${exactly(gapMs)} later (${request.url}); ${exactly(required.ms)} were required: ${SOURCES[required.source]}`,
      });
    }
    const { latest } = history;
    const [until, apartMs] =
      latest?.member === request.member ? [history.endedAt, 0] : [history.heldUntil, CLOCKS_APART_MS];
    if (latest && request.at + apartMs < until) {
      violate(findings, {
        kind: 'overlap',
        request,
        before: latest,
        says: `${request.site} was visited at ${timeOf(request.at)} (${request.url}), ${exactly(until - request.at)} before the visit of ${timeOf(latest.at)} had ended (${latest.url})`,
      });
    }
  }
  history.visit = { first: request, page: isPage(request) ? request : null };
  history.visits++;
};

export const SOURCES: Readonly<Record<DelaySource, string>> = {
  configured: 'the delay that the crawl was set to',
  rule: 'the delay that a rule for this site sets',
  'crawl-delay': 'the Crawl-delay of its robots.txt',
  noted: 'the delay in force at the first of the two, as the crawler noted it',
  kept: 'the delay that the crawler set itself after the first of the two, from how long the site took to respond',
};

/**
 * The longest of what held between the two: recomputed where it can be, and never less than what the crawler itself
 * noted.
 */
const requiredAfter = (history: SiteHistory, before: VisitSeen, next: AuditedRequest): Required => {
  const { rule, settings } = before.first;
  const crawlDelayMs = rule?.own ? 0 : (crawlDelayIn(history.robots, before.first) ?? 0);
  const candidates: Required[] = [
    { ms: Math.floor(rule?.delayMs ?? settings.delayMs), source: rule ? 'rule' : 'configured' },
    { ms: Math.min(crawlDelayMs, CRAWL_DELAY_MAX_MS), source: 'crawl-delay' },
    { ms: before.first.delayMs, source: 'noted' },
    { ms: next.restMs, source: 'kept' },
  ];
  return candidates.reduce((longest, one) => (one.ms > longest.ms ? one : longest));
};

/** What was read in a visit that was killed, or whose settlement was refused, is not in force. */
const crawlDelayIn = (robots: RobotsHistory, request: AuditedRequest): number | null => {
  const brought = robots.asked.get(originOf(request))?.brought;
  return brought && !brought.dead ? brought.crawlDelayMs : null;
};

const judgeSite = (request: AuditedRequest, findings: Findings): void => {
  const address = canonicalize(request.url);
  const site = typeof address === 'string' ? '' : siteOf(address.host);
  if (site !== request.site)
    violate(findings, {
      kind: 'wrong-site',
      request,
      says: `${request.url} belongs to ${site || 'no site'}, but was requested at ${timeOf(request.at)} by a visit to ${request.site}`,
    });
};
