/** What an audit gathers of one site, for the letter to its owner. */

import type { NoteKind } from '../../ledger/format.ts';
import { recordOf, type ArchivedRobots } from './archived-robots.ts';
import type { AuditedRequest } from './requests.ts';
import type { Required, SiteHistory } from './judge-site.ts';

/** Requests that are listed one by one: the newest. */
export const REQUESTS_LISTED_MAX = 1_000;
/** Gaps kept for the median; when there are more, only every second one, fourth one ... is kept. */
const GAPS_KEPT_MAX = 100_000;
/** Lines of a robots.txt that are quoted. */
const RULES_QUOTED_MAX = 100;

export interface SiteTally {
  readonly site: string;
  requests: number;
  visits: number;
  readonly byKind: Record<NoteKind, number>;
  readonly userAgents: Set<string>;
  /** The delays that the crawl was set to. */
  readonly delaysMs: Set<number>;
  from: number;
  to: number;
  readonly newest: AuditedRequest[];
  gaps: number;
  shortestGapMs: number;
  medianGapMs: number | null;
  /** The longest delay that was asked for, and by whom. */
  required: Required | null;
  robots: RobotsQuoted[];
}

export interface RobotsQuoted {
  readonly origin: string;
  /** How often it was read and is in the archive, and when last. */
  readonly times: number;
  readonly readAt: number;
  readonly crawlDelayMs: number | null;
  /** The rules for us, as lines of a robots.txt; null when it has none for us. */
  readonly rules: readonly string[] | null;
  readonly moreRules: number;
  /** The rules are over the ceiling, which forbids everything. */
  readonly tooLarge: boolean;
}

export interface Tallying {
  readonly tally: SiteTally;
  onRequest(request: AuditedRequest): void;
  onGap(gapMs: number, required: Required): void;
  /** The site is over. */
  close(history: SiteHistory): void;
}

export const createTally = (site: string): Tallying => {
  const tally: SiteTally = {
    site,
    requests: 0,
    visits: 0,
    byKind: { robots: 0, follow: 0, page: 0, sitemap: 0 },
    userAgents: new Set(),
    delaysMs: new Set(),
    from: Infinity,
    to: -Infinity,
    newest: [],
    gaps: 0,
    shortestGapMs: Infinity,
    medianGapMs: null,
    required: null,
    robots: [],
  };
  let gaps: number[] = [];
  let step = 1;
  return {
    tally,
    onRequest: (request) => {
      tally.requests++;
      tally.byKind[request.kind]++;
      tally.userAgents.add(request.settings.userAgent);
      tally.delaysMs.add(request.rule?.delayMs ?? request.settings.delayMs);
      tally.from = Math.min(tally.from, request.at);
      tally.to = Math.max(tally.to, request.at);
      tally.newest.push(request);
      if (tally.newest.length >= 2 * REQUESTS_LISTED_MAX) tally.newest.splice(0, REQUESTS_LISTED_MAX);
    },
    onGap: (gapMs, required) => {
      if (tally.gaps++ % step === 0) gaps.push(gapMs);
      if (gaps.length > GAPS_KEPT_MAX) [gaps, step] = [gaps.filter((_, i) => i % 2 === 0), step * 2];
      tally.shortestGapMs = Math.min(tally.shortestGapMs, gapMs);
      if (!tally.required || required.ms > tally.required.ms) tally.required = required;
    },
    close: ({ visits, robots }) => {
      tally.visits = visits;
      tally.newest.splice(0, Math.max(0, tally.newest.length - REQUESTS_LISTED_MAX));
      tally.medianGapMs = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? null;
      tally.robots = [...robots.archived.values()].map(quoted);
    },
  };
};

const quoted = (read: readonly ArchivedRobots[]): RobotsQuoted => {
  const last = read.at(-1)!;
  const lines = last.verdict === 'rules' ? recordOf(last).rules.split('\n').map(ruleLine) : null;
  return {
    origin: last.origin,
    times: new Set(read.map(({ askedAt }) => askedAt)).size,
    readAt: last.at,
    crawlDelayMs: last.crawlDelayMs,
    rules: lines?.slice(0, RULES_QUOTED_MAX) ?? null,
    moreRules: Math.max(0, (lines?.length ?? 0) - RULES_QUOTED_MAX),
    tooLarge: last.verdict === 'too-large',
  };
};

/** `12-/private/`, or `12:9-/~private/` with the length that counts, as it stands in robots.txt. */
const ruleLine = (rule: string): string => {
  const [, line = '', sign, pattern = ''] = /^(\d*)(?::\d+)?([+-])(.*)$/.exec(rule) ?? [];
  return `${sign === '+' ? 'Allow' : 'Disallow'}: ${pattern}${line === '' ? '' : `   (line ${line})`}`;
};
