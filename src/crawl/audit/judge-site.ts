/** The calls of one site, in order of time: do its visits keep their distance, and was each page allowed? */

import { CRAWL_DELAY_MAX_MS } from '../../politeness/pace.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { AuditedCall } from './calls.ts';
import { violate, type Findings } from './findings.ts';
import { judgeRobots, newBook, noteAsked, originOf, type Excuse, type RobotsBook } from './judge-robots.ts';
import { exactly, timeOf } from './words.ts';

/**
 * Where processes share a store, their clocks may be so far apart (see lib/clock.ts): a shorter overlap of two of them
 * is none.
 */
const CLOCKS_APART_MS = 10;

/** What a call says of an address that did not answer, when another of the same host was tried after it. */
const UNREACHED = 'refused';

/** Where a delay comes from. */
export type DelaySource = 'configured' | 'crawl-delay' | 'noted' | 'kept';
export interface Required {
  readonly ms: number;
  readonly source: DelaySource;
}

interface VisitSeen {
  readonly first: AuditedCall;
  page: AuditedCall | null;
}

export interface SiteCourse {
  readonly site: string;
  readonly book: RobotsBook;
  visit: VisitSeen | null;
  /** When the last of its calls so far ended, as its process noted it, and which one that was. */
  endedAt: number;
  latest: AuditedCall | null;
  /**
   * The same, with no call longer than it may be. A process that stood still notes an end when it wakes; meanwhile its
   * lease ran out, and another may call.
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

/** The next call of the site. */
export const judgeCall = (course: SiteCourse, call: AuditedCall, judging: Judging): void => {
  const { findings } = judging;
  if (course.visit?.first.visit === call.visit) goOn(course.visit, call, findings);
  else begin(course, call, judging);
  noteEnd(course, call);
  if (call.kind !== 'follow') judgeSite(call, findings);
  if (call.kind === 'robots') noteAsked(course.book, call);
  if (isPage(call)) judgeRobots(course.book, call, judging);
};

const noteEnd = (course: SiteCourse, call: AuditedCall): void => {
  if (call.endedAt === null) return;
  course.heldUntil = Math.max(course.heldUntil, Math.min(call.endedAt, call.at + call.settings.timeoutMs));
  if (call.endedAt <= course.endedAt) return;
  course.endedAt = call.endedAt;
  course.latest = call;
};

const isPage = ({ kind }: AuditedCall): boolean => kind === 'page' || kind === 'sitemap';

/** robots.txt, its redirects and one page are one visit. */
const goOn = (visit: VisitSeen, call: AuditedCall, findings: Findings): void => {
  if (!isPage(call)) return;
  const { page } = visit;
  if (page && (page.url !== call.url || page.result !== UNREACHED)) {
    violate(findings, {
      kind: 'twice-in-visit',
      call,
      before: page,
      says: `the visit that called ${page.url} at ${timeOf(page.at)} also called ${call.url}, at ${timeOf(call.at)}`,
    });
  }
  visit.page = call;
};

const begin = (course: SiteCourse, call: AuditedCall, { findings, onGap }: Judging): void => {
  const before = course.visit;
  if (before) {
    const required = requiredAfter(course, before, call);
    const gapMs = call.at - before.first.at;
    onGap?.(gapMs, required);
    if (gapMs < required.ms) {
      violate(findings, {
        kind: 'gap',
        call,
        before: before.first,
        requiredMs: required.ms,
        says: `${call.site} was visited at ${timeOf(before.first.at)} (${before.first.url}) and again ${exactly(gapMs)} later (${call.url}); ${exactly(required.ms)} were required: ${SOURCES[required.source]}`,
      });
    }
    const { latest } = course;
    const [until, apartMs] = latest?.member === call.member ? [course.endedAt, 0] : [course.heldUntil, CLOCKS_APART_MS];
    if (latest && call.at + apartMs < until) {
      violate(findings, {
        kind: 'overlap',
        call,
        before: latest,
        says: `${call.site} was visited at ${timeOf(call.at)} (${call.url}), ${exactly(until - call.at)} before the visit of ${timeOf(latest.at)} had ended (${latest.url})`,
      });
    }
  }
  course.visit = { first: call, page: isPage(call) ? call : null };
  course.visits++;
};

export const SOURCES: Readonly<Record<DelaySource, string>> = {
  configured: 'the delay that the crawl was set to',
  'crawl-delay': 'the Crawl-delay of its robots.txt',
  noted: 'the delay in force at the first of the two, as the crawler noted it',
  kept: 'the delay that the crawler set itself after the first of the two, by the time that the site took to answer',
};

/**
 * The longest of what held between the two: recomputed where it can be, and never less than what the crawler itself
 * noted.
 */
const requiredAfter = (course: SiteCourse, before: VisitSeen, next: AuditedCall): Required => {
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
const crawlDelayIn = (book: RobotsBook, call: AuditedCall): number | null => {
  const brought = book.asked.get(originOf(call))?.brought;
  return brought && !brought.dead ? brought.crawlDelayMs : null;
};

const judgeSite = (call: AuditedCall, findings: Findings): void => {
  const address = canonicalize(call.url);
  const site = typeof address === 'string' ? '' : siteOf(address.host);
  if (site !== call.site)
    violate(findings, {
      kind: 'wrong-site',
      call,
      says: `${call.url} is of ${site || 'no site'}, but was called at ${timeOf(call.at)} by a visit to ${call.site}`,
    });
};
