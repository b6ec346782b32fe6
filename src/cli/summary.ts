/** What a person reads at the end of a run, and from `status`. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EndReason, RunEnd } from '../run/run-end.ts';
import { FILES } from '../folder/folder.ts';
import { plural, writeBytes, writeCount, writeDuration } from '../lib/units.ts';
import { visible } from '../lib/visible.ts';
import { knownTotal, settledTotal, type Census } from '../model/census.ts';
import { FAILURES, type FailureCause } from '../model/failure.ts';
import { bold, dim, fitLine, red } from './terminal.ts';

const REASONS: Readonly<Record<EndReason, string>> = {
  finished: 'is finished',
  'max-pages': 'reached --max-pages',
  'max-duration': 'reached --max-duration',
  stopped: 'was stopped',
  halted: 'was stopped at once',
  disk: 'stopped because the disk is full or below --disk-reserve',
  fault: 'stopped because of a fault',
};

export interface SummaryOptions {
  readonly dir: string;
  /** Whether the crawl may have other members: its numbers are then those of all, and said to be so. */
  readonly isShared: boolean;
  /** Links that this member settled, where the crawl may have others and the store was asked. */
  readonly ownSettled?: number | null;
}

export const summaryOf = (end: RunEnd, { dir, isShared }: SummaryOptions): string => {
  const { snapshot, census } = end;
  const lines = [
    '',
    `${bold(`Crawl ${dir} ${REASONS[end.reason]}`)} after ${writeDuration(snapshot.elapsedMs)}: ` +
      `${plural(snapshot.pagesThisRun, 'page')} in this run (${snapshot.pagesPerSecondMean.toFixed(1)}/s)${isShared && census ? `, of ${writeCount(census.pages)} in the whole crawl` : ''}${notVisited(end)}`,
    ...rereadLines(end),
    ...seedLines(end),
    ...(end.fault ? [`  ${visible(`${end.fault.message}${end.fault.advice ? `: ${end.fault.advice}` : ''}`)}`] : []),
  ];
  if (census) lines.push(...censusLines(census, { dir, isShared }));
  lines.push(
    dim('  look at it'),
    `    gossamer pages ${dir} --limit 10`,
    `    gossamer show ${dir} <url> --text`,
    `    gossamer export ${dir} --format parquet --out pages.parquet`,
  );
  const goOn = goOnFlags(end);
  if (goOn !== null) lines.push(dim('  go on'), `    gossamer resume ${dir}${goOn}`);
  return lines.join('\n');
};

/** Links are held on sites that have all their pages, or because the scope refuses them now. */
const heldWords = (sites: number): string =>
  sites > 0 ? `on ${plural(sites, 'site')} over --max-pages-per-site, or out of scope` : 'out of scope';

/** Finished is not the whole truth where links are left. */
const notVisited = ({ reason, census }: RunEnd): string => {
  if (reason !== 'finished' || !census) return '';
  const { parked, held, sites } = census;
  return [
    ...(parked > 0 ? [`; ${plural(parked, 'link')} of ${plural(sites.parked, 'origin')} parked`] : []),
    ...(held > 0 ? [`; ${plural(held, 'link')} held, ${heldWords(sites.held)}`] : []),
  ].join('');
};

/** Causes that this machine may be to blame for. */
const UNREACHED: ReadonlySet<string> = new Set<FailureCause>(['no-name', 'dns', 'refused', 'connect-timeout']);

const rereadLines = ({ reread }: RunEnd): string[] =>
  reread === null
    ? []
    : [`  the scope is wider: ${plural(reread.read, 'archived page')} read again, ${plural(reread.found, 'new link')}`];

const seedLines = ({ parkedSeeds, census }: RunEnd): string[] => {
  if (!parkedSeeds) return [];
  const nothing = 'nothing answered in the whole crawl: check the network and the name servers of this machine';
  const { count, named } = parkedSeeds;
  const more = count - named.length;
  return [
    `  ${red(`${plural(count, 'seed')} could not be reached:`)}`,
    ...named.map(
      ({ origin, cause }) =>
        `    ${visible(origin)}: ${cause in FAILURES ? FAILURES[cause as FailureCause] : `it answered ${cause}`}`,
    ),
    ...(more > 0 ? [`    and ${writeCount(more)} more: gossamer sites with --sort failures lists them`] : []),
    ...(census?.pages === 0 && named.every(({ cause }) => UNREACHED.has(cause)) ? [`  ${nothing}`] : []),
  ];
};

/** What a resume needs to get any further; null when nothing is left. */
const goOnFlags = ({ reason, census }: RunEnd): string | null => {
  if (reason === 'max-pages') return ` --max-pages ${2 * (census?.pages ?? 1)}`;
  if (reason !== 'finished') return '';
  return census && census.parked > 0 ? ' --retry-parked' : null;
};

/** The numbers of a crawl as a table; on a terminal no line of it wraps. */
export const censusLines = (census: Census, options: SummaryOptions): string[] => tableOf(census, options).map(fitLine);

const tableOf = (census: Census, { dir, isShared, ownSettled = null }: SummaryOptions): string[] => {
  const outcomes = Object.entries(census.settled).sort(([, a], [, b]) => b - a);
  const width = Math.max(10, ...outcomes.map(([name]) => name.length + 2));
  return [
    `  ${'pages'.padEnd(width)}${writeCount(census.pages).padStart(12)}${isShared ? '  by all members of the crawl' : ''}`,
    `  ${'links'.padEnd(width)}${writeCount(knownTotal(census)).padStart(12)}  on ${plural(census.sites.known, 'site')}`,
    `  ${'waiting'.padEnd(width)}${writeCount(census.waiting).padStart(12)}`,
    `  ${'leased'.padEnd(width)}${writeCount(census.leased).padStart(12)}`,
    `  ${'parked'.padEnd(width)}${writeCount(census.parked).padStart(12)}${census.sites.parked > 0 ? `  of ${plural(census.sites.parked, 'origin')} that could not be reached` : ''}`,
    `  ${'held'.padEnd(width)}${writeCount(census.held).padStart(12)}${census.held > 0 ? `  ${heldWords(census.sites.held)}` : ''}`,
    ...(census.forgotten > 0
      ? [
          `  ${'forgotten'.padEnd(width)}${writeCount(census.forgotten).padStart(12)}  ${census.forgotten === 1 ? 'time' : 'times'} a link was over --max-waiting-per-site`,
        ]
      : []),
    `  ${'settled'.padEnd(width)}${writeCount(settledTotal(census)).padStart(12)}${ownSettled === null ? '' : `  ${writeCount(ownSettled)} of them by this member`}`,
    ...outcomes.map(([name, n]) => `    ${visible(name).padEnd(width - 2)}${writeCount(n).padStart(12)}`),
    ...archiveLines(census, { dir, isShared }, width),
  ];
};

/** What all members archived, and what lies here, are two numbers; alone they are one. */
const archiveLines = (census: Census, { dir, isShared }: SummaryOptions, width: number): string[] => {
  const { files, bytes } = archiveIn(dir);
  const there = `in ${plural(files, 'file')} in ${join(dir, FILES.warc)}`;
  const line = (name: string, size: number, says: string): string =>
    `  ${name.padEnd(width)}${writeBytes(size).padStart(12)}  ${says}`;
  if (!isShared) return [line('archive', census.archivedBytes, there)];
  return [line('archive', census.archivedBytes, 'of all members'), line('here', bytes, there)];
};

/** The files of a directory's own archive. */
export const archiveIn = (dir: string): { files: number; bytes: number } => {
  const warc = join(dir, FILES.warc);
  try {
    const names = readdirSync(warc).filter((name) => name.endsWith('.warc.gz'));
    return { files: names.length, bytes: names.reduce((sum, name) => sum + statSync(join(warc, name)).size, 0) };
  } catch {
    return { files: 0, bytes: 0 }; // no record yet, no directory
  }
};
