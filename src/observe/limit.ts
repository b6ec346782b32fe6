/** What limits the speed of a crawl right now? */

import { plural, writeCount, writeDuration } from '../lib/units.ts';
import { visible } from '../lib/visible.ts';
import type { Load } from './load.ts';

export type LimitKind = 'politeness' | 'cpu' | 'store' | 'parsers' | 'fetchers' | 'network' | 'start' | 'slots';

export interface Limit {
  readonly kind: LimitKind;
  /** A line for a person, which begins with the kind. */
  readonly words: string;
}

/** More sites due than are visited in this time are a backlog; fewer were just about to be claimed. */
const BACKLOG_SECONDS = 0.25;
/** With this share of its slots in use a crawl is full: the others are free only until the next claim. */
const FULL_SHARE = 0.9;
/** This share of the visits under way, waiting for a parse thread, keeps slots from others. */
const PARSER_SHARE = 0.25;
/** A machine is busy with this share of its cores in use, a thread with this share of its time. */
const BUSY_SHARE = 0.9;
/** A crawl that takes less than this share of all cores, and whose threads have time, is not held up by others. */
const CRAWL_CPU_LEAST = 0.25;
/** A store at hand takes milliseconds for a claim. */
const CLAIM_MS_MAX = 500;
/** Sites at their best answer within some tenths of a second. */
const RESPONSE_MS_MAX = 2_000;

/** A site that is due sooner is not worth naming. */
const SOON_MS = 100;

/**
 * Null when there is nothing to do. Only where work is left undone can this machine be to blame: a crawl with no
 * backlog waits for its sites, however busy the machine is. What saturates everything else is asked for first: on a
 * machine without CPU left each thread looks busy, and behind a slow store every slot is taken.
 */
export const limitOf = (load: Load): Limit | null => (isBehind(load) ? ownLimit(load) : limitOfSites(load));

const isBehind = (load: Load): boolean =>
  load.sitesDue > Math.max(1, load.visitsPerSecond * BACKLOG_SECONDS) || isFull(load) || isWaitingForParsers(load);

const isFull = ({ visits, slots }: Load): boolean => slots > 0 && visits >= slots * FULL_SHARE;

const isWaitingForParsers = ({ visits, waitingForParser }: Load): boolean =>
  waitingForParser >= Math.max(1, visits * PARSER_SHARE);

const ownLimit = (load: Load): Limit => {
  const { cpu, busy, claimMs, settings } = load;
  if (
    cpu.machine >= BUSY_SHARE &&
    (cpu.crawl >= CRAWL_CPU_LEAST || busy.store >= BUSY_SHARE || busy.fetch >= BUSY_SHARE)
  )
    return {
      kind: 'cpu',
      words: `CPU: this machine is busy (${percent(cpu.machine)}; this crawl takes ${percent(cpu.crawl)})`,
    };
  if (busy.store >= BUSY_SHARE) return { kind: 'store', words: `store: its thread is busy (${percent(busy.store)})` };
  if (claimMs >= CLAIM_MS_MAX)
    return { kind: 'store', words: `store: it takes ${writeDuration(claimMs)} to hand out visits` };
  if (isWaitingForParsers(load))
    return {
      kind: 'parsers',
      words: `parsers: ${plural(load.waitingForParser, 'page')} wait for a parse thread (--parsers ${settings.parsers})`,
    };
  if (busy.fetch >= BUSY_SHARE)
    return {
      kind: 'fetchers',
      words: `fetch threads: the busiest is at ${percent(busy.fetch)} (--fetchers ${settings.fetchers})`,
    };
  if (isFull(load) && load.responseMs >= RESPONSE_MS_MAX)
    return {
      kind: 'network',
      words: `network: requests take ${writeDuration(load.responseMs)}, and ${writeCount(load.visits)} visits wait for theirs`,
    };
  const slotsMax = settings.concurrency * settings.fetchers;
  if (load.slots < slotsMax)
    return { kind: 'start', words: `start: ${writeCount(load.slots)} of ${plural(slotsMax, 'slot')} are open so far` };
  return {
    kind: 'slots',
    words: `slots: ${plural(load.sitesDue, 'site')} could be visited, and there ${slotsMax === 1 ? 'is' : 'are'} ${plural(slotsMax, 'slot')} (--concurrency ${settings.concurrency})`,
  };
};

const limitOfSites = ({ sitesDue, sitesKnown, next, visits }: Load): Limit | null => {
  if (sitesDue >= 1 || next !== null) {
    const due = `politeness: ${writeCount(sitesDue)} of ${plural(sitesKnown, 'site')} may be visited now`;
    return {
      kind: 'politeness',
      words: next === null || next.inMs < SOON_MS ? due : `${due}, the next in ${nextWords(next)}`,
    };
  }
  return visits < 1
    ? null
    : { kind: 'network', words: `network: ${plural(visits, 'visit')} under way, and no other site has links` };
};

const nextWords = ({ name, inMs, failures }: NonNullable<Load['next']>): string =>
  `${writeDuration(inMs)} (${visible(name)}${failures > 0 ? ` after ${plural(failures, 'failure')}` : ''})`;

const percent = (share: number): string => `${Math.min(100, Math.round(share * 100))} %`;
