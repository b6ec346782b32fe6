/** The reference store: the contract in plain Maps and arrays, forgotten when its state is. */

import type { Archive } from '../../archive/archive.ts';
import { StoreFault } from '../../contract/fault.ts';
import { CLAIMS_MAX, settledOf } from '../../contract/store.ts';
import type { Admitted, Ask, Change, Claimed, Settled, Store } from '../../contract/store.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';
import type { Link } from '../../model/link.ts';
import { isSideQueue, isRefusedQueue, refusedQueue, siteOfQueue } from '../../url/side-queue.ts';
import { NO_PLACE, type PageRow } from '../../model/page.ts';
import { pagesMaxOf } from '../../model/site-budget.ts';
import type { Destination, Settlement } from '../../model/settlement.ts';
import type { Visit } from '../../model/visit.ts';
import type { Waiting } from '../../model/waiting.ts';
import { appendKept, keptBytes, placeOf, type Begin } from '../kept.ts';
import { openMember, type Member, type MemberOptions } from './member.ts';
import { addPage, census, createMemoryState, keepRobots, leasedLinks, ready } from './state.ts';
import { entriesAfter, siteOf, siteState, writeEntry } from './state.ts';
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
  /** Where several processes share the state: which of them this is. */
  readonly member?: MemberOptions;
}

/** What the verbs work with. */
interface Session {
  readonly state: MemoryState;
  readonly archive: Archive;
  readonly clock: Clock;
  /** Null where nobody else works on the state. */
  readonly member: Member | null;
}

export const openMemoryStore = ({
  clock,
  archive,
  state = createMemoryState(),
  member,
}: MemoryOptions): MemoryStore => {
  let closed = false;
  const whileOpen = (): void => {
    if (closed) throw new StoreFault('the store is closed', 'open it again');
  };
  state.isMade = true;
  const session: Session = { state, clock, archive, member: member ? join(state, { clock, archive, member }) : null };
  if (!member) {
    // What lies after the settled end belongs to settlements that were never answered.
    archive.cut(state.end);
    steer(session, [{ kind: 'free', holder: null, counted: true }]);
  }
  return {
    state,
    pages: () => [...state.pages],
    admit: async (links, siteWaitingMax = null) => {
      whileOpen();
      session.member?.lately.note(links, siteWaitingMax);
      return admit(state, links, { siteWaitingMax, now: clock.now() });
    },
    claim: async (ask) => (whileOpen(), claim(session, ask)),
    settle: async (settlements) => (whileOpen(), settle(session, settlements)),
    steer: async (changes) => (whileOpen(), steer(session, changes)),
    census: async () => (whileOpen(), censusOf(session)),
    beat: async () => (whileOpen(), session.member?.beat() ?? { entry: state.journal.length, term: 0 }),
    journal: async (after) => (whileOpen(), entriesAfter(state, after)),
    rules: async (digest) => (whileOpen(), state.rules.get(digest) ?? null),
    close: async () => {
      closed = true;
    },
  };
};

const join = (
  state: MemoryState,
  { clock, archive, member }: { clock: Clock; archive: Archive; member: MemberOptions },
): Member =>
  openMember(member, {
    state,
    clock,
    archive,
    free: (isChosen, counted) => {
      for (const site of state.sites.values())
        if (site.lease && isChosen(site.lease)) free(state, site, { counted, at: clock.now() });
    },
    admit: ({ links, siteWaitingMax }) => void admit(state, links, { siteWaitingMax, now: clock.now() }),
  });

/** While a crawl is shut it may lack links that a member will send again: no two censuses are the same then. */
const censusOf = ({ state, clock, member }: Session): Census => {
  const counts = census(state, clock.now());
  if (!member) return counts;
  return {
    ...counts,
    archive: member.record().end,
    changes: member.isInOrder() ? counts.changes : counts.changes + counts.now,
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

const claim = (session: Session, ask: Ask): Claimed => {
  const { state, member } = session;
  const now = session.clock.now();
  const told = { entry: state.journal.length, term: member?.book.term() ?? 0 };
  if (member && !member.isInOrder()) return { visits: [], nextDueAt: null, ...told };
  for (const site of state.sites.values()) {
    if (site.lease !== null && site.lease.until !== null && site.lease.until <= now)
      free(state, site, { counted: true, at: site.lease.until });
  }
  for (const site of state.sites.values()) {
    const dueAt = state.floor + Math.max(site.pace.delayMs, ask.delayMs);
    if (site.pace.dueAt < dueAt) site.pace = { ...site.pace, dueAt };
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
    } else visits.push(lease(session, site, { ask, now }));
  }
  if (visits.length + held > 0) state.changes++;
  const next = mine.find((site) => siteState(site) === 'waiting');
  return { visits, nextDueAt: next ? next.pace.dueAt : null, ...told };
};

const lease = ({ state, member }: Session, site: Site, { ask, now }: { ask: Ask; now: number }): Visit => {
  const [head, ...rest] = site.queue;
  if (!head) throw new Error(`site ${site.name} was claimed with no link waiting`);
  const id = member?.book.take(1) ?? ++state.leaseLast;
  member?.book.given(id, ask.holder);
  const tries = head.tries + 1;
  const former = site.pace;
  // The delay asked for is the least: a site never visited has none, and a longer one holds at once.
  const delayMs = Math.max(former.delayMs, ask.delayMs);
  site.queue = rest;
  const leaseUntil = ask.leaseMs === null ? null : now + ask.leaseMs;
  const whose = { member: member?.name ?? '', run: member?.book.run() ?? '', holder: ask.holder };
  site.lease = { id, ...whose, link: head.link, tries, until: leaseUntil };
  site.pace = { ...former, delayMs, dueAt: now + delayMs };
  const robots = state.robots.get(new URL(head.link.url).origin) ?? null;
  return { site: site.name, lease: id, link: head.link, tries, claimedAt: now, leaseUntil, pace: former, robots };
};

const settle = ({ state, archive, clock, member }: Session, settlements: readonly Settlement[]): Settled => {
  const accepted = new Map<Site, Settlement>();
  const run = member?.book.run() ?? '';
  for (const settlement of settlements) {
    if (settlement.fate === 'settled' && settlement.page === null) {
      throw new StoreFault(`a settlement of ${settlement.site} has no page`, 'report this as a bug');
    }
    const site = state.sites.get(settlement.site);
    if (member && !(member.isInOrder() && member.book.isInForce(settlement.lease))) continue;
    if (site?.lease?.id !== settlement.lease || site.lease.run !== run || accepted.has(site)) continue;
    if (site.lease.until === null || site.lease.until > clock.now()) accepted.set(site, settlement);
  }
  // Archive first: if it throws, nothing has changed and every lease is still in force.
  const places = appendRecords(archive, [...accepted.values()]);
  const moves = accepted.entries().flatMap(([{ lease }, { to }]) => (to && lease ? [[to, lease] as const] : []));
  const moved = [...moves];
  for (const [site, settlement] of accepted) endLease(state, site, { settlement, at: places.get(settlement)! });
  // When all leases of the batch have ended: the other queue may have been one of them.
  for (const [to, { link, tries }] of moved) moveTo(state, to, { link, tries: tries - 1 });
  if (accepted.size > 0) state.changes++;
  if (places.size > 0) (member?.record() ?? state).end = archive.end();
  const settled = new Set(accepted.values());
  if (member) {
    member.record().settled += [...settled].filter(({ fate }) => fate === 'settled').length;
    // Those that were refused are over, too.
    for (const { lease: ended } of settlements) member.book.ended(ended);
  }
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

const steer = ({ state, clock, member }: Session, changes: readonly Change[]): void => {
  const now = clock.now();
  let changed = 0;
  for (const change of changes) {
    if (change.kind === 'mark') {
      state.marks[change.name] = change.value;
      changed++;
    } else if (change.kind === 'write') {
      writeEntry(state, change.entry, now);
      changed++;
    } else {
      if (change.kind === 'free') member?.book.died(change.holder);
      for (const site of state.sites.values()) {
        if (change.kind === 'free' && member && site.lease?.member !== member.name) continue;
        changed += applyTo(state, site, { change, now }) ? 1 : 0;
      }
    }
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
    case 'write':
      return false;
  }
};
