/** The requests of one site, in order of time: do its visits keep their distance, and was each page allowed? */

import { CRAWL_DELAY_MAX_MS } from '../../politeness/pace.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { AuditedRequest } from './requests.ts';
import { violate, type Findings } from './findings.ts';
import { judgeRobots, newBook, noteAsked, originOf, type Excuse, type RobotsBook } from './judge-robots.ts';
import { exactly, timeOf } from './words.ts';

/**
 * Where processes share a store, their clocks may be so far apart (see lib/clock.ts): a shorter overlap of two of them
 * is none.
 */
const CLOCKS_APART_MS = 10;

/** The result of a request to an address that did not respond, when another of the same host was tried after it. */
const UNREACHED = 'refused';

/** Where a delay comes from. */
export type DelaySource = 'configured' | 'crawl-delay' | 'noted' | 'kept';
export interface Required {
  readonly ms: number;
  readonly source: DelaySource;
}

interface VisitSeen {
  readonly first: AuditedRequest;
  page: AuditedRequest | null;
}

export interface SiteCourse {
  readonly site: string;
  readonly book: RobotsBook;
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

export const beginSite = (site: string): SiteCourse => ({
  site,
  book: newBook(),
  visit: null,
  endedAt: -Infinity,
  latest: null,
  heldUntil: -Infinity,
  visits: 0,
});

/** The next request of the site. */
export const judgeRequest = (course: SiteCourse, request: AuditedRequest, judging: Judging): void => {
  const { findings } = judging;
  if (course.visit?.first.visit === request.visit) goOn(course.visit, request, findings);
  else begin(course, request, judging);
  noteEnd(course, request);
  if (request.kind !== 'follow') judgeSite(request, findings);
  if (request.kind === 'robots') noteAsked(course.book, request);
  if (isPage(request)) judgeRobots(course.book, request, judging);
};

const noteEnd = (course: SiteCourse, request: AuditedRequest): void => {
  if (request.endedAt === null) return;
  course.heldUntil = Math.max(course.heldUntil, Math.min(request.endedAt, request.at + request.settings.timeoutMs));
  if (request.endedAt <= course.endedAt) return;
  course.endedAt = request.endedAt;
  course.latest = request;
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

const begin = (course: SiteCourse, request: AuditedRequest, { findings, onGap }: Judging): void => {
  const before = course.visit;
  if (before) {
    const required = requiredAfter(course, before, request);
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
    const { latest } = course;
    const [until, apartMs] =
      latest?.member === request.member ? [course.endedAt, 0] : [course.heldUntil, CLOCKS_APART_MS];
    if (latest && request.at + apartMs < until) {
      violate(findings, {
        kind: 'overlap',
        request,
        before: latest,
        says: `${request.site} was visited at ${timeOf(request.at)} (${request.url}), ${exactly(until - request.at)} before the visit of ${timeOf(latest.at)} had ended (${latest.url})`,
      });
    }
  }
  course.visit = { first: request, page: isPage(request) ? request : null };
  course.visits++;
};

export const SOURCES: Readonly<Record<DelaySource, string>> = {
  configured: 'the delay that the crawl was set to',
  'crawl-delay': 'the Crawl-delay of its robots.txt',
  noted: 'the delay in force at the first of the two, as the crawler noted it',
  kept: 'the delay that the crawler set itself after the first of the two, from how long the site took to respond',
};

/**
 * The longest of what held between the two: recomputed where it can be, and never less than what the crawler itself
 * noted.
 */
const requiredAfter = (course: SiteCourse, before: VisitSeen, next: AuditedRequest): Required => {
  const crawlDelayMs = crawlDelayIn(course.book, before.first) ?? 0;
  const candidates: Required[] = [
    { ms: Math.floor(before.first.settings.delayMs), source: 'configured' },
    { ms: Math.min(crawlDelayMs, CRAWL_DELAY_MAX_MS), source: 'crawl-delay' },
    { ms: before.first.delayMs, source: 'noted' },
    { ms: next.restMs, source: 'kept' },
  ];
  return candidates.reduce((longest, one) => (one.ms > longest.ms ? one : longest));
};

/** What was read in a visit that was killed, or whose settlement was refused, is not in force. */
const crawlDelayIn = (book: RobotsBook, request: AuditedRequest): number | null => {
  const brought = book.asked.get(originOf(request))?.brought;
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
