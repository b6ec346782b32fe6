/** What a running crawl shows: a block on a terminal, a line in a file, an object for a program. */

import { writeBytes, writeCount, writeDuration } from '../lib/units.ts';
import { visible } from '../lib/visible.ts';
import { knownTotal, settledTotal, type Census } from '../model/census.ts';
import type { Settings } from '../model/settings.ts';
import { originOfQueue } from '../url/origin-queue.ts';
import { errorsOf, type Phase, type Snapshot } from '../observe/snapshot.ts';
import { bold, cyan, dim, green, red } from './terminal.ts';

const BAR_CHARS = 30;

/** What a phase is called where a person reads it. */
const wordsOf = (phase: Phase): string => (phase === 'opening' ? 'opening the store' : phase);

export const blockOf = (snapshot: Snapshot, dir: string, settings: Settings): string[] => {
  const { census, phase } = snapshot;
  const head = `${bold(cyan('gossamer'))} ${wordsOf(phase)} ${dim(dir)}  ${bold(clock(snapshot.elapsedMs))}`;
  if (!census) return [head];
  if (phase === 'loading seeds') return [head, row('seeds', `${bold(writeCount(snapshot.seedsLoaded))} loaded`)];
  const errors = errorsOf(census);
  return [
    head,
    row(
      'pages',
      `${bold(green(writeCount(census.pages)))}   ${rate(snapshot.pagesPerSecond)} now   ${rate(snapshot.pagesPerSecondMean)} mean   ${errors > 0 ? red(`${writeCount(errors)} errors`) : dim('no errors')}`,
    ),
    row(
      'links',
      `${writeCount(census.waiting)} waiting   ${writeCount(census.leased)} leased   ${writeCount(settledTotal(census))} settled${aside(census)}`,
    ),
    row('sites', `${writeCount(census.sites.known)} known   ${writeCount(census.sitesDue)} due`),
    row(
      'memory',
      `${writeBytes(snapshot.memoryBytes)}   archive ${writeBytes(census.archivedBytes)}${snapshot.restarts > 0 ? red(`   ${snapshot.restarts} threads restarted`) : ''}`,
    ),
    lastRow(snapshot, settings),
  ];
};

const row = (name: string, text: string): string => `  ${dim(name.padEnd(7))} ${text}`;
const rate = (perSecond: number): string => `${perSecond >= 10 ? writeCount(perSecond) : perSecond.toFixed(1)}/s`;

const aside = ({ parked, held, sites }: Census): string =>
  `${parked > 0 ? `   ${writeCount(parked)} parked (${writeCount(sites.parked)} ${sites.parked === 1 ? 'origin' : 'origins'})` : ''}${held > 0 ? `   ${writeCount(held)} held` : ''}`;

const clock = (ms: number): string => {
  const s = Math.floor(ms / 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
};

/** The last line says how far the crawl is, or what it waits for. */
const lastRow = (snapshot: Snapshot, settings: Settings): string => {
  if (snapshot.phase === 'stopping')
    return row(
      '',
      dim(
        `${snapshot.visits === 1 ? '1 visit' : `${writeCount(snapshot.visits)} visits`} under way, with up to ${writeDuration(settings.timeoutMs)} to end; Ctrl-C again stops at once`,
      ),
    );
  const waits = waitingFor(snapshot);
  if (waits) return row('waits', waits);
  const { progress, census } = snapshot;
  if (progress !== null) {
    const limit =
      settings.maxPages !== null && census!.pages / settings.maxPages >= progress
        ? `${writeCount(settings.maxPages)} pages`
        : writeDuration(settings.maxDurationMs!);
    return row('limit', `${bar(progress)} ${Math.floor(progress * 100)} % of ${limit}`);
  }
  const known = knownTotal(census!);
  const share = known > 0 ? settledTotal(census!) / known : 0;
  return row('known', `${bar(share)} ${Math.floor(share * 100)} % of the ${writeCount(known)} links known so far`);
};

const bar = (share: number): string => {
  const full = Math.round(share * BAR_CHARS);
  return `${cyan('█'.repeat(full))}${dim('░'.repeat(BAR_CHARS - full))}`;
};

/** A crawl that only waits says for what and until when. */
export const waitingFor = ({ census, phase }: Snapshot): string | null => {
  if (phase !== 'crawling' || !census?.next || census.leased > 0 || census.sitesDue > 0) return null;
  const { site, dueAt, failures } = census.next;
  const leftMs = dueAt - census.now;
  if (leftMs < 1_000) return null;
  return `for ${visible(originOfQueue(site) || site)}, ${writeDuration(leftMs)} from now (${new Date(dueAt).toLocaleTimeString('en-GB')})${failures > 0 ? `, after ${failures === 1 ? '1 failure' : `${failures} failures`}` : ''}`;
};

export const lineOf = (snapshot: Snapshot): string => {
  const { census, phase } = snapshot;
  const time = new Date().toISOString().slice(11, 19);
  if (!census) return `${time} ${wordsOf(phase)}, for ${writeDuration(snapshot.elapsedMs)} so far`;
  if (phase === 'loading seeds') return `${time} ${phase}: ${writeCount(snapshot.seedsLoaded)}`;
  const waits = waitingFor(snapshot);
  return (
    `${time} ${phase}: ${writeCount(census.pages)} pages (${rate(snapshot.pagesPerSecond)} now, ${rate(snapshot.pagesPerSecondMean)} mean), ` +
    `${writeCount(errorsOf(census))} errors, ${writeCount(census.waiting)} waiting, ${writeCount(census.leased)} leased, ` +
    `${writeCount(census.sitesDue)} sites due, ${writeBytes(snapshot.memoryBytes)}${waits ? `, waits ${waits}` : ''}`
  );
};

/** Numbers without units in their text, units in their names. */
export const objectOf = (snapshot: Snapshot): Record<string, unknown> => {
  const { census, ...rest } = snapshot;
  return {
    time: new Date().toISOString(),
    ...rest,
    ...(census ? { errors: errorsOf(census), ...censusObject(census) } : {}),
  };
};

export const censusObject = (census: Census): Record<string, unknown> => ({
  waiting: census.waiting,
  leased: census.leased,
  parked: census.parked,
  held: census.held,
  forgotten: census.forgotten,
  settled: settledTotal(census),
  settledByOutcome: census.settled,
  pages: census.pages,
  known: knownTotal(census),
  sites: census.sites,
  sitesDue: census.sitesDue,
  next: census.next,
  archivedBytes: census.archivedBytes,
});
