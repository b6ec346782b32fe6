/** The block that a running crawl shows on a terminal: all the width and height that there is, and no more. */

import { widthOf, cutToWidth, fitToWidth } from '../lib/text-width.ts';
import { plural, writeBytes, writeCount, writeDuration } from '../lib/units.ts';
import { visible } from '../lib/visible.ts';
import { knownTotal, settledTotal, type Census } from '../model/census.ts';
import type { Settings } from '../model/settings.ts';
import type { SettledPage, SiteActivity } from '../observe/activity.ts';
import { errorsOf, isError, type Snapshot } from '../observe/snapshot.ts';
import { isShared } from '../store/address.ts';
import { waitingFor, wordsOf, writeRate } from './progress.ts';
import { bold, cyan, dim, green, red } from './terminal.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Shown {
  readonly dir: string;
  readonly settings: Settings;
  readonly size: Size;
}

const NAME_COLUMNS = 10;
const GAP = '   ';
const BAR_COLUMNS_MAX = 40;
/** Two lists stand beside each other from this width on. */
const BESIDE_COLUMNS = 100;
/** Lines of a list of sites, and those of the last pages that are kept before sites are shown. */
const SITE_LINES_MAX = 6;
const LAST_LINES_LEAST = 3;

/** Lines that fit: none is wider than the terminal less one column, and they leave one line for the cursor. */
export const blockOf = (snapshot: Snapshot, { dir, settings, size }: Shown): string[] => {
  const columns = Math.max(1, size.columns - 1);
  const height = Math.max(1, size.rows - 1);
  const { census, phase } = snapshot;
  const head = `${bold(cyan('gossamer'))} ${wordsOf(phase)} ${bold(clock(snapshot.elapsedMs))} ${dim(visible(dir))}`;
  if (!census) return [cutToWidth(head, columns)];
  if (phase === 'loading seeds')
    return [cutToWidth(head, columns), ...flow('seeds', [`${bold(writeCount(snapshot.seedsLoaded))} loaded`], columns)];
  const top = [head, ...speedRows(snapshot, settings, columns).slice(0, 2)];
  const rows = numberRows(snapshot, census, settings, columns);
  const whole = rows.map(([name, items]) => flow(name, items, columns));
  const errors = flow('errors', errorItems(census), columns);
  const isRoom = top.length + whole.flat().length + errors.length <= height;
  // Without room for all numbers, each row is one line with the most important of them.
  const lines = [...top, ...[...whole, errors].flatMap((row) => (isRoom ? row : row.slice(0, 1)))];
  return [...lines, ...lists(snapshot, { columns, height: height - lines.length })]
    .slice(0, height)
    .map((line) => cutToWidth(line, columns));
};

type Row = readonly [name: string, items: readonly string[]];

/** The most important item of each row comes first. */
const numberRows = (snapshot: Snapshot, census: Census, settings: Settings, columns: number): Row[] => {
  const { pages, waiting, leased, parked, held, sites, sitesDue, archivedBytes } = census;
  const errors = errorsOf(census);
  return [
    [
      'pages',
      [
        bold(green(writeCount(pages))),
        `${bold(writeRate(snapshot.pagesPerSecond))} now`,
        `${writeRate(snapshot.pagesPerSecondMean)} mean`,
        ...(isShared(settings.store) ? [`${writeCount(snapshot.pagesThisRun)} by this process`] : []),
        errors > 0 ? red(plural(errors, 'error')) : dim('no errors'),
      ],
    ],
    ['progress', progressItems(snapshot, census, settings, columns)],
    [
      'links',
      [
        `${writeCount(waiting)} waiting`,
        `${writeCount(knownTotal(census))} known`,
        `${writeCount(leased)} under way`,
        `${writeCount(settledTotal(census))} settled`,
        ...(parked > 0 ? [`${writeCount(parked)} parked`] : []),
        ...(held > 0 ? [`${writeCount(held)} held`] : []),
      ],
    ],
    ...rereadRows(snapshot),
    [
      'sites',
      [
        `${writeCount(sitesDue)} due`,
        `${writeCount(snapshot.visits)} under way`,
        `${writeCount(sites.known)} known`,
        ...(sites.parked > 0 ? [`${plural(sites.parked, 'origin')} parked`] : []),
        ...(sites.held > 0 ? [`${writeCount(sites.held)} held`] : []),
      ],
    ],
    [
      'machine',
      [
        `${writeBytes(snapshot.memoryBytes)} memory`,
        ...(snapshot.diskFreeBytes === null ? [] : [`${writeBytes(snapshot.diskFreeBytes)} disk free`]),
        `${writeBytes(snapshot.receivedBytes)} received`,
        `${writeBytes(archivedBytes)} archived`,
        ...(snapshot.restarts > 0 ? [red(`${plural(snapshot.restarts, 'thread')} restarted`)] : []),
      ],
    ],
  ];
};

const rereadRows = ({ rereading }: Snapshot): Row[] =>
  rereading === null
    ? []
    : [['reread', [`${writeCount(rereading.done)} of ${plural(rereading.total, 'archived page')}, for a wider scope`]]];

const label = (name: string): string => `  ${dim(name.padEnd(NAME_COLUMNS))} `;
const LABEL_COLUMNS = widthOf(label(''));

/** Items beside each other, on as many lines as they need. */
const flow = (name: string, items: readonly string[], columns: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const item of items.map((one) => cutToWidth(one, columns - LABEL_COLUMNS))) {
    if (line !== '' && LABEL_COLUMNS + widthOf(line) + GAP.length + widthOf(item) > columns) {
      lines.push(line);
      line = item;
    } else line = line === '' ? item : line + GAP + item;
  }
  if (line !== '') lines.push(line);
  return lines.map((one, i) => (i === 0 ? label(name) : ' '.repeat(LABEL_COLUMNS)) + one);
};

/** What limits the speed, or what the end is waiting for: words on as many lines as they need. */
const speedRows = (snapshot: Snapshot, settings: Settings, columns: number): string[] => {
  if (snapshot.phase === 'ended') return [];
  const waits = waitingFor(snapshot, settings);
  const words = waits ?? snapshot.limit?.words;
  const name = waits === null ? 'limited by' : 'ending';
  if (words === undefined) return flow(name, [dim('not known yet')], columns);
  const lines: string[] = [];
  for (const word of words.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && LABEL_COLUMNS + widthOf(last) + 1 + widthOf(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(cutToWidth(word, columns - LABEL_COLUMNS));
  }
  return lines.map((one, i) => (i === 0 ? label(name) : ' '.repeat(LABEL_COLUMNS)) + one);
};

const clock = (ms: number): string => {
  const s = Math.floor(ms / 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
};

/** How far towards the nearest limit; without one, of the links that are known. */
const progressItems = (
  { progress }: Snapshot,
  census: Census,
  { maxPages, maxDurationMs }: Settings,
  columns: number,
): string[] => {
  const known = knownTotal(census);
  const share = progress ?? (known > 0 ? settledTotal(census) / known : 0);
  const isOfPages = maxPages !== null && census.pages / maxPages >= share;
  const whole =
    progress === null
      ? `${writeCount(known)} links known`
      : isOfPages
        ? `${writeCount(maxPages)} pages`
        : writeDuration(maxDurationMs!);
  const words = `${Math.floor(share * 100)} % of ${whole}`;
  const barColumns = Math.min(BAR_COLUMNS_MAX, columns - LABEL_COLUMNS - widthOf(words) - 1);
  return [barColumns < 4 ? words : `${bar(share, barColumns)} ${words}`];
};

const bar = (share: number, columns: number): string => {
  const full = Math.round(share * columns);
  return `${cyan('█'.repeat(full))}${dim('░'.repeat(columns - full))}`;
};

/** The kinds of errors, the most frequent first. */
const errorItems = ({ settled }: Census): string[] =>
  Object.entries(settled)
    .filter(([name]) => isError(name))
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, n]) => red(`${visible(name)} ${writeCount(n)}`));

/** Sites and the last pages, as far as there is room: a title without a line below it is not worth its place. */
const lists = ({ activity, phase }: Snapshot, { columns, height }: { columns: number; height: number }): string[] => {
  if (!activity || activity.last.length === 0 || height < 2 || phase === 'ended') return [];
  const isBeside = columns >= BESIDE_COLUMNS;
  const left = isBeside ? Math.floor((columns - GAP.length) / 2) : columns;
  const right = isBeside ? columns - GAP.length - left : columns;
  const titled = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [cutToWidth(`  ${dim(title)}`, columns), ...lines];
  const room = height - 1 - LAST_LINES_LEAST;
  const eachMax = Math.min(SITE_LINES_MAX, isBeside ? room - 1 : Math.floor(room / 2) - 1);
  const busiest = titled(
    'busiest sites of the last minute',
    activity.busiest.slice(0, Math.max(0, eachMax)).map((site) => siteLine(site, left)),
  );
  const failing = titled(
    'failing sites of the last minute',
    activity.failing.slice(0, Math.max(0, eachMax)).map((site) => siteLine(site, right, true)),
  );
  const sites = isBeside ? beside(busiest, failing, left) : [...failing, ...busiest];
  const last = activity.last.slice(0, Math.max(0, height - sites.length - 1)).map((page) => pageLine(page, columns));
  return [...sites, ...titled('last pages', last)];
};

const beside = (left: readonly string[], right: readonly string[], leftColumns: number): string[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, i) =>
    right[i] === undefined ? left[i]! : `${fitToWidth(left[i] ?? '', leftColumns)}${GAP}${right[i]}`,
  );

const siteLine = ({ site, visits, failures, cause }: SiteActivity, columns: number, isFailing = false): string => {
  const counts = isFailing
    ? `${writeCount(failures).padStart(6)} of ${writeCount(visits)} ${visible(cause)}`
    : `${writeCount(visits).padStart(6)} visits`;
  const countColumns = isFailing ? 26 : 14;
  return cutToWidth(`${fitToWidth(counts, countColumns)} ${visible(site)}`, columns);
};

const pageLine = ({ url, status, outcome, tookMs }: SettledPage, columns: number): string => {
  const what = String(status ?? outcome.replace(/^failed-/, ''));
  const took = tookMs > 0 ? writeDuration(tookMs) : '-';
  const words = `${fitToWidth(what, columns >= 70 ? 16 : 8)} ${took.padStart(7)} `;
  const address = cutToWidth(visible(url), columns - 4 - widthOf(words));
  return `    ${isError(outcome) ? red(words) : words}${address}`;
};
