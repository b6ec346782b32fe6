/** What a running crawl shows without a terminal: a line in a file, an object for a program. */

import { plural, writeBytes, writeCount, writeDuration } from '../lib/units.ts';
import { visible } from '../lib/visible.ts';
import type { Settings } from '../model/settings.ts';
import { knownTotal, settledTotal, type Census } from '../model/census.ts';
import { isShared } from '../store/address.ts';
import { errorsOf, type Phase, type Snapshot } from '../observe/snapshot.ts';

/** What a phase is called where a person reads it. */
export const wordsOf = (phase: Phase): string => (phase === 'opening' ? 'opening the store' : phase);

export const writeRate = (perSecond: number): string =>
  `${perSecond >= 10 ? writeCount(perSecond) : perSecond.toFixed(1)}/s`;

/**
 * What a crawl waits for that begins no more visits: it is being stopped, has no other links, or has as many visits
 * under way as --max-pages leaves. Null while it begins some.
 */
export const waitingFor = (
  { phase, census, visits, activity }: Snapshot,
  { maxPages, timeoutMs }: Pick<Settings, 'maxPages' | 'timeoutMs'>,
): string | null => {
  if (!census) return null;
  const isLast =
    census.leased > 0 && (census.waiting === 0 || (maxPages !== null && census.pages + census.leased >= maxPages));
  if (phase !== 'stopping' && !(phase === 'crawling' && isLast)) return null;
  const oldest = activity?.oldest;
  if (visits === 0) return phase === 'stopping' ? 'waiting for the store to close' : null;
  const some = visits === 1 ? '' : `${writeCount(visits)} visits, the longest is `;
  const which = oldest
    ? `${some}${visible(oldest.url)} (${writeDuration(Math.floor(oldest.forMs / 1_000) * 1_000)})`
    : `${writeCount(visits)} under way`;
  return `waiting for ${which}${phase === 'stopping' ? `; each has up to ${writeDuration(timeoutMs)}, Ctrl-C stops at once` : ''}`;
};

export const lineOf = (snapshot: Snapshot, settings: Pick<Settings, 'maxPages' | 'timeoutMs' | 'store'>): string => {
  const { census, phase } = snapshot;
  const time = new Date().toISOString().slice(11, 19);
  if (!census) return `${time} ${wordsOf(phase)}, for ${writeDuration(snapshot.elapsedMs)} so far`;
  if (phase === 'loading seeds') return `${time} ${phase}: ${writeCount(snapshot.seedsLoaded)}`;
  const own = isShared(settings.store) ? `, ${writeCount(snapshot.pagesThisRun)} by this process` : '';
  const end = waitingFor(snapshot, settings) ?? (snapshot.limit === null ? null : `limited by ${snapshot.limit.words}`);
  return (
    `${time} ${phase}: ${writeCount(census.pages)} pages${own} (${writeRate(snapshot.pagesPerSecond)} now, ${writeRate(snapshot.pagesPerSecondMean)} mean), ` +
    `${plural(errorsOf(census), 'error')}, ${writeCount(census.waiting)} waiting, ${writeCount(census.leased)} leased, ` +
    `${plural(census.sitesDue, 'site')} due, ${writeBytes(snapshot.memoryBytes)}${rereadWords(snapshot)}${end ? `; ${end}` : ''}`
  );
};

/** How far archived pages are read again, behind other words; empty when they are not. */
const rereadWords = ({ rereading }: Snapshot): string =>
  rereading === null
    ? ''
    : `; read again for a wider scope: ${writeCount(rereading.done)} of ${plural(rereading.total, 'archived page')}`;

/** Numbers without units in their text, units in their names; pages and sites are for those who look at a terminal. */
export const objectOf = (snapshot: Snapshot): Record<string, unknown> => {
  const { census, activity, ...rest } = snapshot;
  return {
    time: new Date().toISOString(),
    ...rest,
    oldestVisit: activity?.oldest ?? null,
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
