/** The reference store: the contract in plain Maps and arrays, forgotten when its state is. */

import type { Archive } from '../../archive/archive.ts';
import { StoreFault } from '../../contract/fault.ts';
import { CLAIMS_MAX, settledOf } from '../../contract/store.ts';
import type { Admitted, Ask, Change, Claimed, Settled, Store } from '../../contract/store.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Link } from '../../model/link.ts';
import { isSideQueue, isRefusedQueue, refusedQueue, siteOfQueue } from '../../url/side-queue.ts';
import { NO_PLACE, type PageRow } from '../../model/page.ts';
import { pagesMaxOf } from '../../model/site-budget.ts';
import type { Destination, Settlement } from '../../model/settlement.ts';
import type { Visit } from '../../model/visit.ts';
import type { Waiting } from '../../model/waiting.ts';
import { appendKept, keptBytes, placeOf, type Begin } from '../kept.ts';
import { addPage, census, createMemoryState, keepRobots, leasedLinks, ready, siteOf, siteState } from './state.ts';
import type { MemoryState, Site } from './state.ts';

export interface MemoryStore extends Store {
  readonly state: MemoryState;
  /** Settled links in the order they were settled. */
  pages(): PageRow[];
}

export interface MemoryOptions {
  readonly clock: Clock;
  readonly archive: Archive;
  readonly state?: MemoryState;
}

export const openMemoryStore = ({ clock, archive, state = createMemoryState() }: MemoryOptions): MemoryStore => {
  let closed = false;
  const whileOpen = (): void => {
    if (closed) throw new StoreFault('the store is closed', 'open it again');
  };
  state.isMade = true;
  // What lies after the settled end belongs to settlements that were never answered.
  archive.cut(state.end);
  steer(state, [{ kind: 'free', holder: null, counted: true }], clock.now());
  return {
    state,
    pages: () => [...state.pages],
    admit: async (links, siteWaitingMax = null) => (
      whileOpen(), admit(state, links, { siteWaitingMax, now: clock.now() })
    ),
    claim: async (ask) => (whileOpen(), claim(state, ask, clock.now())),
    settle: async (settlements) => (whileOpen(), settle(state, settlements, { archive, now: clock.now() })),
    steer: async (changes) => (whileOpen(), steer(state, changes, clock.now())),
    census: async () => (whileOpen(), census(state, clock.now())),
    rules: async (digest) => (whileOpen(), state.rules.get(digest) ?? null),
    close: async () => {
      closed = true;
    },
  };
};

const admit = (
  state: MemoryState,
  links: readonly Link[],
  { siteWaitingMax, now }: { siteWaitingMax: number | null; now: number },
): Admitted => {
  const firsts = new Map<Site, Waiting[]>();
  const full = new Set<string>();
  let admitted = 0;
  let forgotten = 0;
  for (const link of links) {
    if (state.seen.has(link.url)) continue;
    const site = siteOf(state, link.site, now);
    if (
      siteWaitingMax !== null &&
      !link.first &&
      site.queue.length + (firsts.get(site)?.length ?? 0) >= siteWaitingMax
    ) {
      full.add(link.site);
      forgotten++;
      continue;
    }
    state.seen.add(link.url);
    admitted++;
    // Once it has its place in the queue, it is a link like others.
    const waiting = { link: { ...link, first: false }, tries: 0 };
    if (link.first) firsts.set(site, [...(firsts.get(site) ?? []), waiting]);
    else site.queue.push(waiting);
  }
  // Together at the end, so that several firsts of one batch keep their own order.
  for (const [site, head] of firsts) site.queue.unshift(...head);
  state.forgotten += forgotten;
  if (admitted + forgotten > 0) state.changes++;
  return { admitted, seen: links.length - admitted - forgotten, forgotten, full: [...full] };
};

const claim = (state: MemoryState, ask: Ask, now: number): Claimed => {
  for (const site of state.sites.values()) {
    if (site.lease !== null && site.lease.until !== null && site.lease.until <= now)
      free(state, site, { counted: true, at: site.lease.until });
  }
  const shards = new Set(ask.shards);
  const mine = ready(state).filter((site) => shards.has(site.shard));
  const room = ask.pagesMax === null ? Infinity : ask.pagesMax - state.answered - leasedLinks(state);
  const visits: Visit[] = [];
  let held = 0;
  for (const site of mine) {
    if (visits.length >= Math.min(ask.visits, room) || site.pace.dueAt > now) break;
    if (site.pages >= (pagesMaxOf(ask.sitePagesMax, site.name) ?? Infinity)) {
      site.setAside = 'held';
      held++;
    } else visits.push(lease(state, site, { ask, now }));
  }
  if (visits.length + held > 0) state.changes++;
  const next = mine.find((site) => siteState(site) === 'waiting');
  return { visits, nextDueAt: next ? next.pace.dueAt : null };
};

const lease = (state: MemoryState, site: Site, { ask, now }: { ask: Ask; now: number }): Visit => {
  const [head, ...rest] = site.queue;
  if (!head) throw new Error(`site ${site.name} was claimed with no link waiting`);
  const id = ++state.leaseLast;
  const tries = head.tries + 1;
  const former = site.pace;
  // The delay asked for is the least: a site never visited has none, and a longer one holds at once.
  const delayMs = Math.max(former.delayMs, ask.delayMs);
  site.queue = rest;
  const leaseUntil = ask.leaseMs === null ? null : now + ask.leaseMs;
  site.lease = { id, holder: ask.holder, link: head.link, tries, until: leaseUntil };
  site.pace = { ...former, delayMs, dueAt: now + delayMs };
  const robots = state.robots.get(new URL(head.link.url).origin) ?? null;
  return { site: site.name, lease: id, link: head.link, tries, claimedAt: now, leaseUntil, pace: former, robots };
};

const settle = (
  state: MemoryState,
  settlements: readonly Settlement[],
  { archive, now }: { archive: Archive; now: number },
): Settled => {
  const accepted = new Map<Site, Settlement>();
  for (const settlement of settlements) {
    if (settlement.fate === 'settled' && settlement.page === null) {
      throw new StoreFault(`a settlement of ${settlement.site} has no page`, 'report this as a bug');
    }
    const site = state.sites.get(settlement.site);
    if (site?.lease?.id !== settlement.lease || accepted.has(site)) continue;
    if (site.lease.until === null || site.lease.until > now) accepted.set(site, settlement);
  }
  // Archive first: if it throws, nothing has changed and every lease is still in force.
  const places = appendRecords(archive, [...accepted.values()]);
  const moves = accepted.entries().flatMap(([{ lease }, { to }]) => (to && lease ? [[to, lease] as const] : []));
  const moved = [...moves];
  for (const [site, settlement] of accepted) endLease(state, site, { settlement, at: places.get(settlement)! });
  // When all leases of the batch have ended: the other queue may have been one of them.
  for (const [to, { link, tries }] of moved) moveTo(state, to, { link, tries: tries - 1 });
  if (accepted.size > 0) state.changes++;
  if (places.size > 0) state.end = archive.end();
  const settled = new Set(accepted.values());
  return settledOf(settlements, (one) => settled.has(one));
};

type Places = Map<Settlement, Begin | null>;

const appendRecords = (archive: Archive, settlements: readonly Settlement[]): Places => {
  try {
    return new Map(appendKept(archive, settlements).map((begin, i) => [settlements[i]!, begin]));
  } catch (cause) {
    if (cause instanceof StoreFault) throw cause;
    throw new StoreFault('the archive took no records', 'see that its disk has room', cause);
  }
};

interface Ending {
  readonly settlement: Settlement;
  readonly at: Begin | null;
}

const endLease = (state: MemoryState, site: Site, { settlement, at }: Ending): void => {
  if (site.lease === null) throw new Error(`the lease of site ${site.name} was ended twice`);
  const { link, tries } = site.lease;
  site.lease = null;
  site.pace = settlement.pace;
  if (settlement.parked) site.setAside = 'parked';
  if (settlement.robots) keepRobots(state, settlement.robots);
  state.archivedBytes += keptBytes(settlement).length;
  switch (settlement.fate) {
    case 'retry':
      site.queue.push({ link, tries });
      return;
    case 'returned':
      if (!settlement.to) site.queue.unshift({ link, tries: tries - 1 });
      return;
    case 'settled':
      if (settlement.page) writePage(state, site, { ...settlement.page, ...placeOf(settlement, at) });
  }
};

const moveTo = (state: MemoryState, to: Destination, { link, tries }: Waiting): void => {
  const isNew = !state.sites.has(to.queue);
  const queue = siteOf(state, to.queue, 0);
  if (isNew || to.isNews) {
    queue.pace = to.pace;
    // One that is under visit is told by the end of that visit.
    if (!queue.lease) queue.setAside = to.parked ? 'parked' : to.held ? 'held' : null;
  }
  const moved = { link: { ...link, site: to.queue }, tries };
  if (to.first) queue.queue.unshift(moved);
  else queue.queue.push(moved);
};

const writePage = (state: MemoryState, site: Site, page: PageRow): void => {
  if (addPage(state, page)) site.pages++;
};

const steer = (state: MemoryState, changes: readonly Change[], now: number): void => {
  let changed = 0;
  for (const change of changes) {
    if (change.kind === 'mark') {
      state.marks[change.name] = change.value;
      changed++;
    } else for (const site of state.sites.values()) changed += applyTo(state, site, { change, now }) ? 1 : 0;
  }
  if (changed > 0) state.changes++;
};

/** The holder of a lease died, or it ran out: the link waits again, at the head, and the site a full delay. */
const free = (state: MemoryState, site: Site, { counted, at }: { counted: boolean; at: number }): void => {
  if (site.lease === null) throw new Error(`site ${site.name} has no lease to free`);
  const { link, tries } = site.lease;
  site.lease = null;
  site.pace = { ...site.pace, dueAt: at + site.pace.delayMs };
  if (counted && tries >= CLAIMS_MAX) {
    writePage(state, site, { ...unansweredPage({ link, tries, outcome: 'gave-up', at }), ...NO_PLACE });
  } else site.queue.unshift({ link, tries: counted ? tries : tries - 1 });
};

/** Makes a change to one site; false when it does not concern it. */
const applyTo = (state: MemoryState, site: Site, { change, now }: { change: Change; now: number }): boolean => {
  switch (change.kind) {
    case 'free': {
      if (site.lease === null || (change.holder !== null && site.lease.holder !== change.holder)) return false;
      free(state, site, { counted: change.counted && (change.culprit ?? site.lease.id) === site.lease.id, at: now });
      return true;
    }
    case 'retry-parked':
      if (site.setAside !== 'parked') return false;
      site.setAside = null;
      // Not after a long back-off any more, but never before a full delay: its last request may just have left.
      site.pace = {
        ...site.pace,
        dueAt: Math.max(now, Math.min(site.pace.dueAt, now + site.pace.delayMs)),
        failures: 0,
      };
      return true;
    case 'release-held':
      if (site.setAside !== 'held' || isSideQueue(site.name)) return false;
      if (site.pages >= (pagesMaxOf(change.sitePagesMax, site.name) ?? Infinity)) return false;
      site.setAside = null;
      return true;
    case 'release-refused':
      if (site.setAside !== 'held' || !isRefusedQueue(site.name)) return false;
      if (site.name === refusedQueue(siteOfQueue(site.name), change.scope)) return false;
      site.setAside = null;
      return true;
    case 'mark':
      return false;
  }
};
