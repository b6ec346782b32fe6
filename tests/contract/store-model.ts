/** A crawl's memory as the contract describes it, that follows a store and objects to what it may not do. */

import { pagesMaxOf } from '../../src/model/site-budget.ts';
import assert from 'node:assert/strict';

import { CLAIMS_MAX, type Admitted, type Ask, type Change, type Claimed } from '../../src/contract/store.ts';
import { knownTotal } from '../../src/model/census.ts';
import type { Census } from '../../src/model/census.ts';
import type { Link } from '../../src/model/link.ts';
import { ANSWERED_OUTCOMES } from '../../src/model/outcome.ts';
import { digestOf, withoutLongRules, withRules } from '../../src/model/long-rules.ts';
import type { RobotsRecord } from '../../src/model/robots.ts';
import type { Destination, Settlement } from '../../src/model/settlement.ts';
import type { Pace, Visit } from '../../src/model/visit.ts';
import { isSideQueue, isRefusedQueue } from '../../src/url/side-queue.ts';
import { shardOf } from '../../src/url/shard.ts';

export interface ModelSite {
  readonly name: string;
  setAside: 'parked' | 'held' | null;
  pace: Pace;
  visited: boolean;
  pages: number;
  queue: { link: Link; tries: number }[];
  lease: { visit: Visit; holder: string } | null;
}

export interface Model {
  readonly sites: Map<string, ModelSite>;
  readonly seen: Set<string>;
  readonly leases: Set<number>;
  readonly robots: Map<string, RobotsRecord>;
  /** Texts of long rules by their digest. */
  readonly rules: Map<string, string>;
  /** Settled links in order: address, outcome and the text of its first record. */
  readonly settled: { url: string; outcome: string; record: string | null }[];
  readonly marks: Record<string, number>;
  archivedBytes: number;
  forgotten: number;
  changes: number;
}

export const createModel = (): Model => ({
  sites: new Map(),
  seen: new Set(),
  leases: new Set(),
  robots: new Map(),
  rules: new Map(),
  settled: [],
  marks: {},
  archivedBytes: 0,
  forgotten: 0,
  changes: 0,
});

export const sitesOf = (model: Model): ModelSite[] => [...model.sites.values()];

/** The queue of an origin is none. */
export const sitesKnown = (model: Model): number => sitesOf(model).filter(({ name }) => !isSideQueue(name)).length;

export const leasedVisits = (model: Model): Visit[] =>
  sitesOf(model).flatMap((site) => (site.lease ? [site.lease.visit] : []));

const pagesOf = (model: Model): number => sitesOf(model).reduce((sum, site) => sum + site.pages, 0);

const readySites = (model: Model): ModelSite[] =>
  sitesOf(model).filter((site) => site.setAside === null && !site.lease && site.queue.length > 0);

const earliest = (sites: readonly ModelSite[]): number | null =>
  sites.length === 0 ? null : Math.min(...sites.map((site) => site.pace.dueAt));

/** What a store must answer: which of these links are new, and for which there is no room. */
export const followAdmit = (
  model: Model,
  links: readonly Link[],
  { siteWaitingMax, now }: { siteWaitingMax: number; now: number },
): Admitted => {
  const room = new Map(sitesOf(model).map((site) => [site.name, siteWaitingMax - site.queue.length]));
  const full = new Set<string>();
  let forgotten = 0;
  const fresh = links.filter(({ url, site, first }) => {
    if (model.seen.has(url)) return false;
    const left = room.get(site) ?? siteWaitingMax;
    if (left <= 0 && !first) return void (full.add(site), forgotten++);
    room.set(site, left - 1);
    return model.seen.add(url);
  });
  model.forgotten += forgotten;
  for (const link of fresh) {
    if (model.sites.has(link.site)) continue;
    const pace = { dueAt: now, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 };
    model.sites.set(link.site, {
      name: link.site,
      setAside: null,
      pace,
      visited: false,
      pages: 0,
      queue: [],
      lease: null,
    });
  }
  const entries = (first: boolean, site: string): ModelSite['queue'] =>
    fresh.filter((link) => link.first === first && link.site === site).map((link) => ({ link, tries: 0 }));
  for (const name of new Set(fresh.map((link) => link.site))) {
    const site = siteNamed(model, name);
    site.queue = [...entries(true, name), ...site.queue, ...entries(false, name)];
  }
  return { admitted: fresh.length, seen: links.length - fresh.length - forgotten, forgotten, full: [...full] };
};

const siteNamed = (model: Model, name: string): ModelSite => {
  const site = model.sites.get(name);
  assert.ok(site, `${name} was never admitted`);
  return site;
};

/**
 * Which of several shards a store serves first, and which of two sites due at the same moment, is its
 * own choice: so the model takes over what it chose, if it was free to. With a site limit, it must have
 * room for all that are due: otherwise it is also its choice how many sites over the limit it meets.
 */
export const followClaim = (
  model: Model,
  { asked, claimed, now }: { asked: Ask; claimed: Claimed; now: number },
): void => {
  const mine = readySites(model).filter((site) => asked.shards.includes(shardOf(site.name)));
  const due = mine.filter((site) => site.pace.dueAt <= now);
  const over = due.filter((site) => site.pages >= (pagesMaxOf(asked.sitePagesMax, site.name) ?? Infinity));
  const free = new Set(due.filter((site) => !over.includes(site)));
  const pagesLeft = asked.pagesMax === null ? Infinity : asked.pagesMax - pagesOf(model) - leasedVisits(model).length;
  const room = Math.max(0, Math.min(asked.visits, pagesLeft));
  assert.equal(
    claimed.visits.length,
    Math.min(room, free.size),
    'as many visits as there is room for and sites are due',
  );
  const lastDueAt = new Map<number, number>();
  for (const visit of claimed.visits) {
    const site = siteNamed(model, visit.site);
    assert.ok(free.delete(site), `${visit.site} is not due, or was given twice`);
    const shard = shardOf(site.name);
    assert.ok(site.pace.dueAt >= (lastDueAt.get(shard) ?? 0), `${visit.site} was due before the one given first`);
    lastDueAt.set(shard, site.pace.dueAt);
    followVisit(model, visit, { asked, now });
  }
  for (const site of free) {
    assert.ok(
      site.pace.dueAt >= (lastDueAt.get(shardOf(site.name)) ?? 0),
      `${site.name} is due longer, and was passed over`,
    );
  }
  for (const site of over) site.setAside = 'held';
  const nextDueAt = earliest(mine.filter((site) => site.setAside === null && !site.lease));
  // With all its room used a store need not look further than "now".
  if (claimed.visits.length < room) assert.equal(claimed.nextDueAt, nextDueAt, 'nextDueAt');
};

const followVisit = (model: Model, visit: Visit, { asked, now }: { asked: Ask; now: number }): void => {
  const site = siteNamed(model, visit.site);
  const head = site.queue.shift();
  assert.ok(head);
  assert.deepEqual(
    { ...visit.link, first: false },
    { ...head.link, first: false },
    'the link at the head of the queue',
  );
  assert.equal(visit.tries, head.tries + 1, `tries of ${visit.link.url}`);
  assert.equal(visit.claimedAt, now);
  // Before its first visit a site has no delay of its own to speak of.
  assert.deepEqual(
    visit.pace,
    site.visited ? site.pace : { ...site.pace, delayMs: visit.pace.delayMs },
    'the former pace',
  );
  const known = model.robots.get(new URL(visit.link.url).origin);
  assert.deepEqual(visit.robots, known ? withoutLongRules(known).record : null, 'the rules of its origin');
  assert.ok(!model.leases.has(visit.lease), `lease ${visit.lease} was given before`);
  model.leases.add(visit.lease);
  const delayMs = Math.max(site.pace.delayMs, asked.delayMs);
  site.pace = { ...site.pace, delayMs, dueAt: now + delayMs };
  site.visited = true;
  site.lease = { visit, holder: asked.holder };
};

/** Those of the settlements that a store must keep. */
export const followSettle = (model: Model, settlements: readonly Settlement[]): Settlement[] => {
  const moves: [Destination, ModelSite['queue'][number]][] = [];
  const kept = settlements.filter((settlement) => {
    const site = model.sites.get(settlement.site);
    if (!site?.lease || site.lease.visit.lease !== settlement.lease) return false;
    const { link, tries } = site.lease.visit;
    site.lease = null;
    site.pace = settlement.pace;
    if (settlement.parked) site.setAside = 'parked';
    const { robots } = settlement;
    const { long } = robots ? withoutLongRules(robots) : { long: null };
    if (long) model.rules.set(long.digest, long.text);
    if (robots) model.robots.set(robots.origin, withRules(robots, model.rules.get(digestOf(robots) ?? '') ?? null)!);
    if (settlement.fate === 'retry') site.queue.push({ link, tries });
    if (settlement.fate === 'returned' && !settlement.to) site.queue.unshift({ link, tries: tries - 1 });
    if (settlement.fate === 'settled') followPage(model, site, settlement);
    if (settlement.to) moves.push([settlement.to, { link, tries: tries - 1 }]);
    return true;
  });
  // When all leases of the batch have ended.
  for (const [to, waiting] of moves) followMove(model, to, waiting);
  return kept;
};

const followMove = (model: Model, to: Destination, { link, tries }: ModelSite['queue'][number]): void => {
  const known = model.sites.get(to.queue);
  const fresh = { name: to.queue, setAside: null, pace: to.pace, visited: true, pages: 0, queue: [], lease: null };
  const queue: ModelSite = known ?? fresh;
  model.sites.set(to.queue, queue);
  if (!known || to.isNews) {
    queue.pace = to.pace;
    // One that is under visit is told by the end of that visit.
    if (!queue.lease) queue.setAside = to.parked ? 'parked' : to.held ? 'held' : null;
  }
  const moved = { link: { ...link, site: to.queue }, tries };
  if (to.first) queue.queue.unshift(moved);
  else queue.queue.push(moved);
};

const followPage = (model: Model, site: ModelSite, { page, records }: Settlement): void => {
  assert.ok(page);
  const record =
    records && new TextDecoder().decode(records.bytes.subarray(records.pageAt, records.pageAt + records.pageLength));
  model.settled.push({ url: page.url, outcome: page.outcome, record });
  model.archivedBytes += records?.bytes.length ?? 0;
  if (page.outcome in ANSWERED_OUTCOMES) site.pages++;
};

export const followChange = (model: Model, change: Change, now: number): void => {
  if (change.kind === 'mark') model.marks[change.name] = change.value;
  for (const site of sitesOf(model)) {
    if (change.kind === 'free' && site.lease && (change.holder ?? site.lease.holder) === site.lease.holder) {
      const { link, tries } = site.lease.visit;
      site.lease = null;
      site.pace = { ...site.pace, dueAt: now + site.pace.delayMs };
      if (change.counted && tries >= CLAIMS_MAX)
        model.settled.push({ url: link.url, outcome: 'gave-up', record: null });
      else site.queue.unshift({ link, tries: change.counted ? tries : tries - 1 });
    }
    if (change.kind === 'retry-parked' && site.setAside === 'parked') {
      site.setAside = null;
      site.pace = { ...site.pace, dueAt: Math.max(now, site.pace.dueAt), failures: 0 };
    }
    if (change.kind === 'release-refused' && site.setAside === 'held' && isRefusedQueue(site.name)) {
      if (!site.name.endsWith(` !${change.scope}`)) site.setAside = null;
    }
    if (change.kind === 'release-held' && site.setAside === 'held' && !isSideQueue(site.name)) {
      if (site.pages < (pagesMaxOf(change.sitePagesMax, site.name) ?? Infinity)) site.setAside = null;
    }
  }
};

/** Every number of the census must be what the model counts. */
export const checkCensus = (model: Model, census: Census): void => {
  checkCounts(model, census);
  const ready = readySites(model);
  assert.equal(census.sitesDue, ready.filter((site) => site.pace.dueAt <= census.now).length, 'sites that are due');
  if (census.sitesDue > 0) return;
  assert.equal(census.next?.dueAt ?? null, earliest(ready), 'when the next site is due');
  const next = census.next && siteNamed(model, census.next.site).pace;
  assert.deepEqual([census.next?.dueAt, census.next?.failures], [next?.dueAt, next?.failures], 'the next site');
};

/** Every number that does not depend on the moment. */
export const checkCounts = (model: Model, census: Census): void => {
  const inState = (setAside: ModelSite['setAside']): ModelSite[] =>
    sitesOf(model).filter((site) => site.setAside === setAside);
  const links = (sites: ModelSite[]): number => sites.reduce((sum, site) => sum + site.queue.length, 0);
  const byOutcome: Record<string, number> = {};
  for (const { outcome } of model.settled) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1;
  const { waiting, leased, parked, held, pages, sites, settled, forgotten, archivedBytes, marks } = census;
  assert.deepEqual(
    { waiting, leased, parked, held, pages, sites, settled, forgotten, archivedBytes, marks },
    {
      waiting: links(inState(null)),
      leased: leasedVisits(model).length,
      parked: links(inState('parked')),
      held: links(inState('held')),
      pages: pagesOf(model),
      sites: {
        known: sitesKnown(model),
        parked: inState('parked').length,
        held: inState('held').filter((site) => !isSideQueue(site.name)).length,
      },
      settled: byOutcome,
      forgotten: model.forgotten,
      archivedBytes: model.archivedBytes,
      marks: model.marks,
    },
  );
  assert.equal(knownTotal(census), model.seen.size, 'every link is in exactly one state');
  assert.ok(census.changes >= model.changes, 'changes never shrink');
  model.changes = census.changes;
};
