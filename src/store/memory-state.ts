/** What the memory store remembers, and the census of it. */

import { SITES_DUE_COUNTED_MAX } from '../model/census.ts';
import type { ArchiveEnd, Census } from '../model/census.ts';
import type { Link } from '../model/link.ts';
import type { OutcomeName } from '../model/outcome.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { PlacedPage } from '../model/settlement.ts';
import type { Pace } from '../model/visit.ts';
import { shardOf } from '../url/shard.ts';

export interface Waiting {
  readonly link: Link;
  /** How often it was claimed; a claim under way is included. */
  readonly tries: number;
}

export interface Lease extends Waiting {
  readonly id: number;
  readonly holder: string;
  readonly until: number | null;
}

export interface Site {
  readonly name: string;
  readonly shard: number;
  state: 'open' | 'parked' | 'held';
  pace: Pace;
  pages: number;
  line: Waiting[];
  lease: Lease | null;
}

/** All that a crawl must remember. It outlives the store that was opened on it, as a file would. */
export interface MemoryState {
  readonly sites: Map<string, Site>;
  readonly seen: Set<string>;
  readonly robots: Map<string, RobotsRecord>;
  readonly pages: PlacedPage[];
  readonly settled: Partial<Record<OutcomeName, number>>;
  readonly marks: Record<string, number>;
  answered: number;
  forgotten: number;
  leaseLast: number;
  changes: number;
  end: ArchiveEnd;
  archivedBytes: number;
}

export const createMemoryState = (): MemoryState => ({
  sites: new Map(),
  seen: new Set(),
  robots: new Map(),
  pages: [],
  settled: {},
  marks: {},
  answered: 0,
  forgotten: 0,
  leaseLast: 0,
  changes: 0,
  end: { file: '', bytes: 0 },
  archivedBytes: 0,
});

/** The site of that name, made known if it is new: then it may be called at once. */
export const siteOf = (state: MemoryState, name: string, now: number): Site => {
  const known = state.sites.get(name);
  if (known) return known;
  // It has no delay yet: its first claim brings one.
  const pace: Pace = { dueAt: now, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 };
  const site: Site = { name, shard: shardOf(name), state: 'open', pace, pages: 0, line: [], lease: null };
  state.sites.set(name, site);
  return site;
};

/** Sites that wait only for their clock, those that are due longest first. */
export const ready = (state: MemoryState): Site[] =>
  [...state.sites.values()]
    .filter((site) => site.state === 'open' && site.lease === null && site.line.length > 0)
    .sort((a, b) => a.pace.dueAt - b.pace.dueAt);

export const leasedLinks = (state: MemoryState): number =>
  [...state.sites.values()].filter((site) => site.lease !== null).length;

export const census = (state: MemoryState, now: number): Census => {
  const sites = [...state.sites.values()];
  const inState = (kind: Site['state']): Site[] => sites.filter((site) => site.state === kind);
  const linksOf = (some: Site[]): number => some.reduce((sum, site) => sum + site.line.length, 0);
  const waiting = ready(state);
  const due = waiting.filter((site) => site.pace.dueAt <= now);
  const next = due.length === 0 ? waiting[0] : undefined;
  return {
    now,
    waiting: linksOf(inState('open')),
    leased: leasedLinks(state),
    parked: linksOf(inState('parked')),
    held: linksOf(inState('held')),
    settled: { ...state.settled },
    forgotten: state.forgotten,
    pages: state.answered,
    sites: { known: sites.length, parked: inState('parked').length, held: inState('held').length },
    sitesDue: Math.min(due.length, SITES_DUE_COUNTED_MAX),
    next: next ? { site: next.name, dueAt: next.pace.dueAt, failures: next.pace.failures } : null,
    changes: state.changes,
    archive: state.end,
    archivedBytes: state.archivedBytes,
    marks: { ...state.marks },
  };
};
