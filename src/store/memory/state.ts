/** What the memory store remembers, and the census of it. */

import type { Entry, MemberAbout, NewEntry } from '../../contract/journal.ts';
import type { SiteState } from '../../contract/views.ts';
import { SITES_DUE_COUNTED_MAX } from '../../model/census.ts';
import type { ArchiveEnd, Census } from '../../model/census.ts';
import { ANSWERED_OUTCOMES, type OutcomeName } from '../../model/outcome.ts';
import type { PageRow } from '../../model/page.ts';
import { digestOf, withoutLongRules, withRules, type CarriedRobots } from '../../model/long-rules.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Pace } from '../../model/visit.ts';
import type { Waiting } from '../../model/waiting.ts';
import { isSideQueue } from '../../url/side-queue.ts';
import { shardOf } from '../../url/shard.ts';

export interface Lease extends Waiting {
  /** Whose it is, and in which run of that member's process; both empty where nobody shares the crawl. */
  readonly member: string;
  readonly run: string;
  /** No other lease of that run has it. */
  readonly id: number;
  readonly holder: string;
  readonly until: number | null;
}

export interface Site {
  readonly name: string;
  readonly shard: number;
  /** Not visited until an order says so; null for a site that is visited when its clock allows. */
  setAside: 'parked' | 'held' | null;
  pace: Pace;
  pages: number;
  queue: Waiting[];
  lease: Lease | null;
}

/** A member of a crawl that several processes share. */
export interface MemberRecord {
  /** When its last beat came. */
  seenAt: number;
  /** It died, and its leases were freed. */
  isFreed: boolean;
  settled: number;
  about: MemberAbout | null;
  /** Where the settled part of its archive ends. */
  end: ArchiveEnd;
  /** The server that it is ready for. */
  server: string;
}

/** All that a crawl must remember. It outlives the store that was opened on it, as a file would. */
export interface MemoryState {
  /** There is a crawl here; false while one is filled. */
  isMade: boolean;
  readonly sites: Map<string, Site>;
  readonly seen: Set<string>;
  readonly robots: Map<string, CarriedRobots>;
  /** Texts of long rules by their digest. */
  readonly rules: Map<string, string>;
  readonly pages: PageRow[];
  readonly settled: Partial<Record<OutcomeName, number>>;
  readonly marks: Record<string, number>;
  readonly notes: Record<string, string>;
  readonly journal: Entry[];
  readonly members: Map<string, MemberRecord>;
  /** The server on which the crawl is in order; null for one that nobody shares. */
  server: string | null;
  /** The server on which it was found not to be in order, and when. */
  shut: { readonly server: string; readonly at: number };
  /** After this moment every site waits a full delay: visits before it may be forgotten. */
  floor: number;
  answered: number;
  forgotten: number;
  leaseLast: number;
  changes: number;
  end: ArchiveEnd;
  archivedBytes: number;
}

export const createMemoryState = (): MemoryState => ({
  isMade: false,
  sites: new Map(),
  seen: new Set(),
  robots: new Map(),
  rules: new Map(),
  pages: [],
  settled: {},
  marks: {},
  notes: {},
  journal: [],
  members: new Map(),
  server: null,
  shut: { server: '', at: -Infinity },
  floor: -Infinity,
  answered: 0,
  forgotten: 0,
  leaseLast: 0,
  changes: 0,
  end: { file: '', bytes: 0 },
  archivedBytes: 0,
});

/** The site of that name, made known if it is new: then it may be visited at once. */
export const siteOf = (state: MemoryState, name: string, now: number): Site => {
  const known = state.sites.get(name);
  if (known) return known;
  // It has no delay yet: its first claim brings one.
  const pace: Pace = { dueAt: now, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 };
  const site: Site = { name, shard: shardOf(name), setAside: null, pace, pages: 0, queue: [], lease: null };
  state.sites.set(name, site);
  return site;
};

export const siteState = ({ setAside, lease, queue }: Site): SiteState =>
  lease ? 'leased' : (setAside ?? (queue.length > 0 ? 'waiting' : 'idle'));

export const keepRobots = ({ robots, rules }: MemoryState, given: CarriedRobots): void => {
  const { record, long } = withoutLongRules(given);
  if (long) rules.set(long.digest, long.text);
  robots.set(record.origin, record);
};

/** Null for rules whose text is missing. */
export const wholeRobots = ({ rules }: MemoryState, record: CarriedRobots): RobotsRecord | null =>
  withRules(record, rules.get(digestOf(record) ?? '') ?? null);

/** Adds a settled page to the counters of the crawl; true when a server answered, so that its site counts it, too. */
export const addPage = (state: MemoryState, page: PageRow): boolean => {
  state.pages.push(page);
  state.settled[page.outcome] = (state.settled[page.outcome] ?? 0) + 1;
  const isAnswered = Object.hasOwn(ANSWERED_OUTCOMES, page.outcome);
  if (isAnswered) state.answered++;
  return isAnswered;
};

/** Sites that wait only for their clock, those that are due longest first. */
export const ready = (state: MemoryState): Site[] =>
  [...state.sites.values()].filter((site) => siteState(site) === 'waiting').sort((a, b) => a.pace.dueAt - b.pace.dueAt);

export const leasedLinks = (state: MemoryState): number =>
  [...state.sites.values()].filter((site) => site.lease !== null).length;

export const census = (state: MemoryState, now: number): Census => {
  const sites = [...state.sites.values()];
  const inState = (setAside: Site['setAside']): Site[] => sites.filter((site) => site.setAside === setAside);
  const linksOf = (some: Site[]): number => some.reduce((sum, site) => sum + site.queue.length, 0);
  const waiting = ready(state);
  const due = waiting.filter((site) => site.pace.dueAt <= now);
  const next = due.length === 0 ? waiting[0] : undefined;
  return {
    now,
    waiting: linksOf(inState(null)),
    leased: leasedLinks(state),
    parked: linksOf(inState('parked')),
    held: linksOf(inState('held')),
    settled: { ...state.settled },
    forgotten: state.forgotten,
    pages: state.answered,
    sites: {
      known: sites.filter(({ name }) => !isSideQueue(name)).length,
      parked: inState('parked').length,
      held: inState('held').filter(({ name }) => !isSideQueue(name)).length,
    },
    sitesDue: Math.min(due.length, SITES_DUE_COUNTED_MAX),
    next: next ? { site: next.name, dueAt: next.pace.dueAt, failures: next.pace.failures } : null,
    changes: state.changes,
    archive: state.end,
    archivedBytes: state.archivedBytes,
    marks: { ...state.marks },
  };
};

/** Entries read in one go. */
const ENTRIES_AT_ONCE = 500;

export const entriesAfter = ({ journal }: MemoryState, number: number): Entry[] =>
  journal.slice(number, number + ENTRIES_AT_ONCE);

/** The number of the entry: of that which is there, if its id is known. */
export const writeEntry = ({ journal }: MemoryState, { id, text }: NewEntry, at: number): number => {
  const known = journal.find((entry) => entry.id === id);
  if (known) return known.number;
  return journal.push({ number: journal.length + 1, id, at, text });
};
