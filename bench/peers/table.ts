/** The comparison as Markdown, to be pasted into a page. */

import type { Measured } from './measure.ts';
import type { WebReport } from './web.ts';

export interface Row {
  readonly title: string;
  /** With the version. */
  readonly about: string;
  readonly command: string;
  readonly outcome:
    | { readonly kind: 'ran'; readonly used: Measured; readonly web: WebReport; readonly remark: string }
    | { readonly kind: 'missing'; readonly why: string };
}

const fixed = (n: number, digits = 0): string => (Number.isFinite(n) ? n.toFixed(digits) : '-');
const count = (n: number): string => n.toLocaleString('en-US');
const share = (part: number, whole: number): string =>
  part === 0 ? '0' : `${count(part)} (${fixed((part * 100) / whole, 1)} %)`;
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');

const FIGURES = [
  'crawler',
  'pages',
  'pages/s',
  'CPU ms/page',
  'peak MiB',
  'duplicates',
  'robots.txt asked again',
  'pages before robots.txt',
  'forbidden pages',
];

const MORE = [
  'crawler',
  'seconds',
  'requests',
  'requests/s',
  'sites',
  'robots.txt requests',
  'most at once on one site',
  'descriptors, peak',
  'CPU ms/page of the web',
  'User-Agent',
];

const figures = ({ title, outcome }: Row): string[] => {
  if (outcome.kind === 'missing') return [title, ...FIGURES.slice(1).map(() => '-')];
  const { used, web } = outcome;
  const { verdict } = web;
  return [
    title,
    count(verdict.pages),
    fixed((verdict.pages * 1_000) / verdict.wallMs),
    fixed(used.cpuMs / verdict.pages, 2),
    fixed(used.peakBytes / 1024 ** 2),
    share(verdict.duplicates, verdict.pageRequests),
    share(verdict.robotsAgain, verdict.robotsRequests),
    share(verdict.beforeRobots, verdict.pageRequests),
    share(verdict.forbidden, verdict.pageRequests),
  ];
};

const more = ({ title, outcome }: Row, latencyMs: number): string[] => {
  if (outcome.kind === 'missing') return [title, ...MORE.slice(1).map(() => '-')];
  const { used, web } = outcome;
  const { verdict } = web;
  const agents = verdict.userAgents;
  return [
    title,
    fixed(verdict.wallMs / 1_000, 1),
    count(verdict.requests),
    fixed((verdict.requests * 1_000) / verdict.wallMs),
    count(verdict.sites),
    count(verdict.robotsRequests),
    // Answers that take no time never overlap, however many are asked for at once.
    latencyMs === 0 ? '-' : count(verdict.siteConcurrencyMax),
    count(used.descriptorsPeak),
    fixed(web.cpuMs / verdict.pages, 2),
    agents.length > 1 ? `${agents.length} or more, the first: ${agents[0]}` : (agents[0] ?? '-'),
  ];
};

const remarkOf = ({ outcome }: Row): string =>
  outcome.kind === 'missing' ? `Not run: ${outcome.why}` : outcome.remark;

const told = (row: Row): string => {
  const remark = remarkOf(row);
  return [
    `* **${row.title}.** ${row.about}${remark === '' ? '' : ` *${remark}*`}`,
    ...(row.command === '' ? [] : [`  \`${row.command}\``]),
  ].join('\n');
};

export interface Page {
  readonly opening: string;
  /** What every response of the web took to begin. */
  readonly latencyMs: number;
  readonly rows: readonly Row[];
}

export const markdown = ({ opening, latencyMs, rows }: Page): string =>
  [
    opening,
    table(FIGURES, rows.map(figures)),
    'A page is a URL that was answered with 200. Duplicates: requests for a page that had been asked for before. ' +
      'Pages before robots.txt: requests that came before the robots.txt of their origin had been answered. ' +
      'Forbidden pages: requests that this robots.txt forbids. Shares are of all requests for pages, or for ' +
      'robots.txt. CPU is user + system of the process and its children, start and end included; memory is the sum ' +
      'over them.',
    table(
      MORE,
      rows.map((row) => more(row, latencyMs)),
    ),
    'How each was run; paths are shortened, `DIR` is an empty folder:',
    rows.map(told).join('\n'),
  ].join('\n\n');
