/** A text on one site that can be sent to its owner as it is. */

import { plural, writeDuration } from '../../lib/units.ts';
import type { AuditReport } from '../audit.ts';
import type { AuditedRequest } from './requests.ts';
import { UNCHECKED, VIOLATIONS, type UncheckedReason, type ViolationKind } from './findings.ts';
import { SOURCES } from './judge-site.ts';
import type { RobotsQuoted, SiteTally } from './site-tally.ts';
import { exactly, timeOf } from './words.ts';

export interface LetterFrom {
  readonly email: string;
}

export const letterOf = (
  { tally, findings, remarks, damage, own, robotsIgnored }: AuditReport & { readonly tally: SiteTally },
  { email }: LetterFrom,
): string[] => {
  if (tally.requests === 0)
    return [
      `No request to ${tally.site} is in the ledger of this crawl.`,
      ...remarks.map((text) => `Note: ${text}.`),
      ...damage.map((text) => `Note: ${text}.`),
    ];
  return [
    `Requests from a crawler to ${tally.site}`,
    '',
    ...whoLines(tally, email),
    '',
    ...paceLines(tally, findings.byKind),
    '',
    ...ownLines(own, robotsIgnored),
    ...robotsLines(tally, findings, robotsIgnored),
    ...violationLines(findings),
    ...[...remarks, ...damage].map((text) => `Note: ${text}.`),
    '',
    ...requestLines(tally),
  ];
};

const whoLines = ({ site, requests, visits, byKind, userAgents, from, to }: SiteTally, email: string): string[] => [
  `From ${timeOf(from)} to ${timeOf(to)} (UTC) this crawler sent ${plural(requests, 'request')} to ${site}, in ${plural(visits, 'visit')}: ${kindsOf(byKind)}.`,
  `Its User-Agent is ${[...userAgents].map((name) => `"${name}"`).join(', and at other times ')}.`,
  `Whoever runs it can be reached at ${email}.`,
];

const kindsOf = (byKind: SiteTally['byKind']): string =>
  [
    `${byKind.robots} for robots.txt`,
    ...(byKind.follow > 0 ? [`${byKind.follow} to where robots.txt redirected`] : []),
    plural(byKind.page, 'page'),
    ...(byKind.sitemap > 0 ? [plural(byKind.sitemap, 'sitemap')] : []),
  ].join(', ');

type ByKind = Partial<Record<ViolationKind, number>>;

const paceLines = ({ gaps, shortestGapMs, medianGapMs, required, delaysMs }: SiteTally, byKind: ByKind): string[] => {
  const set = `The crawler is set to leave at least ${[...delaysMs].map(exactly).join(', and at other times ')} between the starts of two visits to a site, and longer where a Crawl-delay or a slow response asks for it. A robots.txt that names no Crawl-delay and the page that is requested right after it are one visit.`;
  if (gaps === 0 || !required) return [set, 'There was one visit only, so there is no time between visits to report.'];
  const early = byKind.gap ?? 0;
  const overlaps = byKind.overlap ?? 0;
  return [
    set,
    `Between the starts of two visits there were at least ${exactly(shortestGapMs)}, and ${exactly(medianGapMs ?? shortestGapMs)} in the median.`,
    `The longest delay that had to be kept here was ${exactly(required.ms)}: ${SOURCES[required.source]}.`,
    early === 0
      ? 'Every visit kept the delay that was in force for it.'
      : `${plural(early, 'visit')} came too early; they are listed below.`,
    overlaps === 0
      ? 'No two visits overlapped.'
      : `${plural(overlaps, 'visit')} began before another had ended; they are listed below.`,
  ];
};

/** What whoever crawls their own site has set. */
const ownLines = (own: number, robotsIgnored: number): string[] => [
  ...(own > 0
    ? [
        `${plural(own, 'request')} went to hosts that the crawler is told are its own: only the delay that it is set to was kept there.`,
      ]
    : []),
  ...(robotsIgnored > 0 ? [`For ${plural(robotsIgnored, 'request')} of these, robots.txt was disregarded.`] : []),
];

/** What a robots decision can be wrong in. */
const ROBOTS_VIOLATIONS: readonly ViolationKind[] = ['forbidden', 'no-robots', 'stale-robots', 'wrong-rules'];

const robotsLines = (
  { robots, byKind: kinds }: SiteTally,
  { byKind, unchecked }: AuditReport['findings'],
  robotsIgnored: number,
): string[] => {
  const against = ROBOTS_VIOLATIONS.reduce((sum, kind) => sum + (byKind[kind] ?? 0), 0);
  const open = Object.entries(unchecked) as [UncheckedReason, number][];
  const openRequests = open.reduce((sum, [, n]) => sum + n, robotsIgnored);
  const pages = kinds.page + kinds.sitemap;
  return [
    ...robots.flatMap(quoteLines),
    ...(robots.length === 0 ? ['No robots.txt of this site is in the archive.'] : []),
    ...open.map(
      ([reason, n]) => `For ${plural(n, 'request')} the robots decision could not be checked: ${UNCHECKED[reason]}.`,
    ),
    against > 0
      ? `robots.txt was not followed in ${plural(against, 'request')}; they are listed below.`
      : pages === openRequests
        ? 'No page was requested whose rules could be checked.'
        : `robots.txt was followed: each ${openRequests > 0 ? 'other ' : ''}page that was requested is allowed by the rules that were in force.`,
  ];
};

const quoteLines = ({ origin, times, readAt, crawlDelayMs, rules, moreRules, tooLarge }: RobotsQuoted): string[] => [
  `${origin}/robots.txt was read ${times === 1 ? 'once' : `${times} times`}, last at ${timeOf(readAt)}. ${
    tooLarge
      ? 'Its rules for this crawler are too many to be read, so it requests nothing there.'
      : rules === null
        ? 'It has no rules for this crawler, which allows everything.'
        : 'Its rules for this crawler:'
  }`,
  ...(rules ?? []).map((rule) => `    ${rule}`),
  ...(moreRules > 0 ? [`    and ${moreRules} more`] : []),
  ...(crawlDelayMs === null ? [] : [`    Crawl-delay: ${crawlDelayMs / 1_000}   (${writeDuration(crawlDelayMs)})`]),
];

const violationLines = ({ violations, count }: AuditReport['findings']): string[] =>
  count === 0
    ? []
    : [
        '',
        'What was not as it should be:',
        ...violations.map(({ kind, says }) => `  ${kind} (${VIOLATIONS[kind]}): ${says}.`),
        ...(count > violations.length ? [`  and ${count - violations.length} more.`] : []),
      ];

const requestLines = ({ newest, requests }: SiteTally): string[] => [
  requests > newest.length
    ? `The last ${newest.length} requests (there were ${plural(requests - newest.length, 'more request')} before them):`
    : 'All requests:',
  ...newest.map(requestText),
];

const requestText = ({ at, kind, url, address, endedAt, result }: AuditedRequest): string =>
  `  ${timeOf(at)}  ${kind === 'follow' ? 'robots' : kind}  ${url}  at ${address}: ${endedAt === null ? 'its end is not known' : `${result}, after ${exactly(endedAt - at)}`}`;
