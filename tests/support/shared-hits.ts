/** The ways in which a crawl with two processes and a server is hit, and what may come of each. */

import type { Dice } from '../../src/world/random.ts';
import type { Ran } from './binary.ts';
import type { CrashFigures } from './crash-figures.ts';

export const SHARED_HITS = {
  kill: 'kill -9 of one process',
  stop: 'SIGTERM of one process',
  pause: 'SIGSTOP of one process, a moment, SIGCONT',
  server: 'kill -9 of the server, which is started again',
  leave: 'kill -9 of one process, which stays dead until the other has finished the crawl',
  sleep: 'SIGSTOP of one process for longer than its leases, while the other finishes the crawl',
} as const;

export type SharedHit = keyof typeof SHARED_HITS;
export const ALL_SHARED_HITS = Object.keys(SHARED_HITS) as SharedHit[];

/** After these the crawl goes to its end. */
export const isLast = (hit: SharedHit): boolean => hit === 'leave' || hit === 'sleep';

export type SharedFigures = CrashFigures<SharedHit>;

export const killsOf = ({ hits }: SharedFigures): number => hits.kill + hits.leave;

/** Whether a run may end like this after that hit on it; one that is finished may always. */
export const mayEndSo = (hit: SharedHit, { code, signal, stderr }: Ran): boolean => {
  if (code === 0) return true;
  switch (hit) {
    case 'kill':
    case 'leave':
      return signal === 'SIGKILL';
    case 'stop':
      return code === 3 || signal === 'SIGTERM'; // before it listens, a signal ends it as any program
    case 'server':
      // it was just opening the store: a sentence, no stack
      return code === 1 && /does not answer/.test(stderr) && !/^ +at /m.test(stderr);
    case 'pause':
    case 'sleep':
      return false;
    default:
      return hit satisfies never;
  }
};

/** A link is given up after eight claims that nobody survived: fewer kills cannot lead there. */
const HITS_PER_CRAWL_MAX = 7;
/** What the server's death costs is free again after a lease: crawls with it are long, so they have several. */
const SERVER_HITS_PER_CRAWL = 3;
/** For every so many kills one stop and one pause. */
const KILLS_PER_OTHER = 6;

export interface HitCounts {
  readonly kills: number;
  readonly serverKills: number;
}

/**
 * Rows of hits, one row for each crawl: first those with the server's, which end in turn with a process left and a
 * process asleep.
 */
export const drawHits = ({ kills, serverKills }: HitCounts, dice: Dice): SharedHit[][] => {
  const long = Math.ceil(serverKills / SERVER_HITS_PER_CRAWL);
  const ends = Array.from({ length: long }, (_, n): SharedHit => (n % 2 === 1 || n / 2 >= kills ? 'sleep' : 'leave'));
  const left = kills - ends.filter((hit) => hit === 'leave').length;
  const others = Math.round(kills / KILLS_PER_OTHER);
  const quick = shuffled([...many('kill', left), ...many('stop', others), ...many('pause', others)], dice);
  const rows = ends.map((end, n) => {
    const servers = many('server', Math.floor(serverKills / long) + (n < serverKills % long ? 1 : 0));
    return [...shuffled([...servers, ...quick.splice(0, HITS_PER_CRAWL_MAX - 1 - servers.length)], dice), end];
  });
  while (quick.length > 0) rows.push(quick.splice(0, HITS_PER_CRAWL_MAX));
  return rows;
};

const many = (hit: SharedHit, count: number): SharedHit[] => Array<SharedHit>(count).fill(hit);

const shuffled = <T>(list: readonly T[], dice: Dice): T[] => {
  const left = [...list];
  return list.map(() => left.splice(dice(left.length), 1)[0] as T);
};
