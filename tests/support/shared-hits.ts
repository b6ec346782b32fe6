/** The ways in which a crawl with two processes and a server is hit, what may come of each, and what is counted. */

import type { Dice } from '../../src/world/random.ts';
import type { Ran } from './binary.ts';

export const SHARED_HITS = {
  'kill': 'kill -9 of one process',
  'stop': 'SIGTERM of one process',
  'pause': 'SIGSTOP of one process, a moment, SIGCONT',
  'server': 'kill -9 of the server, which is started again',
  'leave': 'kill -9 of one process, which stays dead until the other has finished the crawl',
  'sleep': 'SIGSTOP of one process for longer than its leases, while the other finishes the crawl',
} as const;

export type SharedHit = keyof typeof SHARED_HITS;
export const ALL_SHARED_HITS = Object.keys(SHARED_HITS) as SharedHit[];

/** After these the crawl goes to its end. */
export const isLast = (hit: SharedHit): boolean => hit === 'leave' || hit === 'sleep';

export interface SharedFigures {
  readonly hits: Record<SharedHit, number>;
  crawls: number;
  /** Runs begun: by `crawl` or `join` while a directory was new, by `resume` from then on. */
  starts: number;
  resumes: number;
  pages: number;
  archivedOnce: number;
  gaps: number;
  /** Calls in the ledgers, each compared with what the small web saw. */
  noted: number;
  /** The shortest gap less the delay of its crawl. */
  spareMs: number;
  /** Stops of both processes after which `verify` found both directories whole. */
  checksClean: number;
  readonly violations: string[];
}

export const newSharedFigures = (): SharedFigures => ({
  hits: Object.fromEntries(ALL_SHARED_HITS.map((hit) => [hit, 0])) as Record<SharedHit, number>,
  crawls: 0, starts: 0, resumes: 0, pages: 0, archivedOnce: 0, gaps: 0, noted: 0, spareMs: Infinity, checksClean: 0, violations: [],
});

export const killsOf = ({ hits }: SharedFigures): number => hits.kill + hits.leave;
const hitsTotal = ({ hits }: SharedFigures): number => Object.values(hits).reduce((sum, n) => sum + n, 0);

export const sharedLine = (figures: SharedFigures, { seed, store }: { readonly seed: number; readonly store: string }): string => {
  const { hits, crawls, starts, resumes, pages, archivedOnce, gaps, noted, spareMs, checksClean, violations } = figures;
  return `${store}, seed ${seed}: ${hitsTotal(figures)} hits (${ALL_SHARED_HITS.map((hit) => `${hits[hit]} ${hit}`).join(', ')}) on ${crawls} crawls by two processes; ` +
    `${starts} starts, ${resumes} resumes; ${pages} pages, ${archivedOnce} archived once; ` +
    `${gaps} gaps checked, shortest gap - delay ${spareMs.toFixed(2)} ms; ${noted} calls in the ledger as the small web saw them; ${checksClean} checks of both directories clean by verify; ${violations.length} violations`;
};

/** Whether a run may end like this after that hit on it; one that is finished may always. */
export const mayEndSo = (hit: SharedHit, { code, signal, stderr }: Ran): boolean => {
  if (code === 0) return true;
  switch (hit) {
    case 'kill':
    case 'leave': return signal === 'SIGKILL';
    case 'stop': return code === 3 || signal === 'SIGTERM'; // before it listens, a signal ends it as any program
    case 'server': return code === 1 && /does not answer/.test(stderr) && !/^ +at /m.test(stderr); // it was just opening the store: a sentence, no stack
    case 'pause':
    case 'sleep': return false;
    default: return hit satisfies never;
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

/** Rows of hits, one row for each crawl: first those with the server's, which end in turn with a process left and a process asleep. */
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
