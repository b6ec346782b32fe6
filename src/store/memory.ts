/** The reference store: the contract in plain Maps and arrays, forgotten when its state is. */

import { unansweredPage } from '../frontier/page.ts';
import { CLAIMS_MAX, settledOf, StoreFault } from '../frontier/store.ts';
import type { Admitted, Archive, Ask, Claimed, Order, Settled, Store } from '../frontier/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Link } from '../model/link.ts';
import { ANSWERED_OUTCOMES } from '../model/outcome.ts';
import type { PlacedPage, Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import { appendKept, keptBytes, placeOf, type Begin } from './kept.ts';
import { census, createMemoryState, leasedLinks, ready, siteOf } from './memory-state.ts';
import type { MemoryState, Site, Waiting } from './memory-state.ts';

export type { MemoryState } from './memory-state.ts';

export interface MemoryStore extends Store {
  readonly state: MemoryState;
  /** Settled links in the order they were settled. */
  pages(): PlacedPage[];
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
  // What lies behind the settled end belongs to settlements that were never answered.
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
    steer: async (orders) => (whileOpen(), steer(state, orders, clock.now())),
    census: async () => (whileOpen(), census(state, clock.now())),
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
      site.line.length + (firsts.get(site)?.length ?? 0) >= siteWaitingMax
    ) {
      full.add(link.site);
      forgotten++;
      continue;
    }
    state.seen.add(link.url);
    admitted++;
    if (!link.first) site.line.push({ link, tries: 0 });
    else firsts.set(site, [...(firsts.get(site) ?? []), { link, tries: 0 }]);
  }
  // Together at the end, so that several firsts of one batch keep their own order.
  for (const [site, head] of firsts) site.line.unshift(...head);
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
    if (ask.sitePagesMax !== null && site.pages >= ask.sitePagesMax) {
      site.state = 'held';
      held++;
    } else visits.push(lease(state, site, { ask, now }));
  }
  if (visits.length + held > 0) state.changes++;
  const next = mine.find((site) => site.state === 'open' && site.lease === null);
  return { visits, nextDueAt: next ? next.pace.dueAt : null };
};

const lease = (state: MemoryState, site: Site, { ask, now }: { ask: Ask; now: number }): Visit => {
  const [head, ...rest] = site.line;
  if (!head) throw new Error(`site ${site.name} was claimed with no link waiting`);
  const id = ++state.leaseLast;
  const tries = head.tries + 1;
  const former = site.pace;
  // The delay asked for is the least: a site never visited has none, and a longer one holds at once.
  const delayMs = Math.max(former.delayMs, ask.delayMs);
  site.line = rest;
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
  for (const [site, settlement] of accepted) endLease(state, site, { settlement, at: places.get(settlement)! });
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
  if (settlement.parked) site.state = 'parked';
  if (settlement.robots) state.robots.set(settlement.robots.origin, settlement.robots);
  state.archivedBytes += keptBytes(settlement).length;
  switch (settlement.fate) {
    case 'retry':
      site.line.push({ link, tries });
      return;
    case 'returned':
      site.line.unshift({ link, tries: tries - 1 });
      return;
    case 'settled':
      if (settlement.page) writePage(state, site, { ...settlement.page, place: placeOf(settlement, at) });
  }
};

const writePage = (state: MemoryState, site: Site, page: PlacedPage): void => {
  state.pages.push(page);
  state.settled[page.outcome] = (state.settled[page.outcome] ?? 0) + 1;
  if (!Object.hasOwn(ANSWERED_OUTCOMES, page.outcome)) return;
  site.pages++;
  state.answered++;
};

const steer = (state: MemoryState, orders: readonly Order[], now: number): void => {
  let changed = 0;
  for (const order of orders) {
    if (order.kind === 'mark') {
      state.marks[order.name] = order.value;
      changed++;
    } else for (const site of state.sites.values()) changed += obey(state, site, { order, now }) ? 1 : 0;
  }
  if (changed > 0) state.changes++;
};

/** Its holder died or its lease ran out: the link waits again, at the head, and the site a full delay from then. */
const free = (state: MemoryState, site: Site, { counted, at }: { counted: boolean; at: number }): void => {
  if (site.lease === null) throw new Error(`site ${site.name} has no lease to free`);
  const { link, tries } = site.lease;
  site.lease = null;
  site.pace = { ...site.pace, dueAt: at + site.pace.delayMs };
  if (counted && tries >= CLAIMS_MAX) {
    writePage(state, site, { ...unansweredPage({ link, tries, outcome: 'gave-up', at }), place: null });
  } else site.line.unshift({ link, tries: counted ? tries : tries - 1 });
};

/** Carry out an order on one site; false when it does not concern it. */
const obey = (state: MemoryState, site: Site, { order, now }: { order: Order; now: number }): boolean => {
  switch (order.kind) {
    case 'free': {
      if (site.lease === null || (order.holder !== null && site.lease.holder !== order.holder)) return false;
      free(state, site, { counted: order.counted && (order.culprit ?? site.lease.id) === site.lease.id, at: now });
      return true;
    }
    case 'retry-parked':
      if (site.state !== 'parked') return false;
      site.state = 'open';
      // Not after a long back-off any more, but never before a full delay: its last call may just have left.
      site.pace = {
        ...site.pace,
        dueAt: Math.max(now, Math.min(site.pace.dueAt, now + site.pace.delayMs)),
        failures: 0,
      };
      return true;
    case 'release-held':
      if (site.state !== 'held' || (order.sitePagesMax !== null && site.pages >= order.sitePagesMax)) return false;
      site.state = 'open';
      return true;
    case 'mark':
      return false;
  }
};
