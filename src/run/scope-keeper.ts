/**
 * Which links a running crawl wants, and what follows when that changes: where seeds are at home, links that were
 * refused or held and may be wanted now, archived pages to be read again.
 */

import type { Store } from '../contract/store.ts';
import { keepIdentity, readIdentity } from '../folder/folder.ts';
import { noteSeeds, seedBytesOf, whoWeAre } from '../folder/in-force.ts';
import { pause } from '../lib/pause.ts';
import type { CrawlChange } from '../model/crawl-change.ts';
import { DEAD_AFTER_MS, SILENT_AFTER_MS } from '../model/pulse.ts';
import { sitePagesMaxOf } from '../model/site-budget.ts';
import type { Settings } from '../model/settings.ts';
import type { Log } from '../observe/log.ts';
import { isShared } from '../store/address.ts';
import type { StorePlace } from '../store/options.ts';
import { fingerprint } from '../url/fingerprint.ts';
import type { ChangedPlan } from '../threads/supervisor.ts';
import type { Admissions } from './admissions.ts';
import { openHomeKeeper, type HomeKeeper } from './homes.ts';
import type { Standing } from './live.ts';
import type { Supervisor } from '../threads/supervisor.ts';
import { rereadForgotten, rereadIfDue, type Reread, type Rereading } from './reread.ts';
import { productTokenOf, userAgentOf } from './user-agent.ts';
import { wantsMore } from './wider.ts';

/** Remembers the last change whose links were released: members need not all do it. */
const RELEASED_MARK = 'released';
const TURNS = 8n;
const TURN_MS = 250;

export interface ScopeKeeperParts {
  readonly dir: string;
  readonly member?: string | undefined;
  readonly place: StorePlace;
  readonly store: Store;
  readonly log: Log;
  /** What is in force now. */
  readonly now: () => Standing;
  /** Writes a change for all members. */
  readonly write: (change: CrawlChange) => Promise<unknown>;
  /** Tells the threads. */
  readonly tell: (plan: ChangedPlan) => void;
  /** Work that a run waits for before it is finished. */
  readonly admissions: Admissions;
  readonly stop: AbortSignal;
  /** Whether the store forgot links while this member was not there. */
  readonly forgot: Pick<Supervisor, 'forgotSince' | 'rereadDone'>;
}

export interface ScopeKeeper {
  homes(): HomeKeeper | null;
  /** Tells the other members of seeds that they cannot know of. */
  begin(): Promise<void>;
  /** What threads are told. */
  plan(): ChangedPlan;
  /** Does what follows from a change. Not to be waited for inside one. */
  changed(now: Standing, was: Standing, isOurs: boolean): Promise<void>;
  /** Reads archived pages again, if that is due. */
  reread(): void;
  rereading(): Rereading | null;
  /** What came of it so far; null when it was never due. */
  done(): Reread | null;
  close(): Promise<void>;
}

/** Opens the homes of the seeds. */
export const openScopeKeeper = async (parts: ScopeKeeperParts): Promise<ScopeKeeper> => {
  const { dir, place, admissions, stop } = parts;
  const open = (settings: Settings): Promise<HomeKeeper | null> => openHomeKeeper({ dir, settings, store: place });
  let homes = await open(parts.now().settings);
  let rereading: Rereading | null = null;
  let done: Reread | null = null;
  let superseded = new AbortController();
  let working: Promise<void> = Promise.resolve();

  const plan = (): ChangedPlan => {
    const { settings, excluded, scopeName, inForce } = parts.now();
    return {
      settings,
      scopeName,
      homes,
      excluded: excluded?.shared ?? null,
      number: inForce.number,
      userAgent: userAgentOf(settings),
      productToken: productTokenOf(settings),
    };
  };

  /** Links that the store forgot while this member was not there. */
  const findForgotten = async (): Promise<void> => {
    const { forgotSince: since, rereadDone } = parts.forgot;
    if (since === null) return;
    const { settings } = parts.now();
    if (await rereadForgotten({ ...parts, settings, since }, (now) => (rereading = now))) rereadDone();
  };
  working = working.then(findForgotten);
  void admissions.note(working);

  const reread = (): void => {
    superseded.abort();
    superseded = new AbortController();
    const signal = AbortSignal.any([stop, superseded.signal]);
    const again = async (): Promise<void> => {
      if (signal.aborted) return;
      const { settings } = parts.now();
      const figures = await rereadIfDue({ ...parts, settings, stop: signal }, (now) => (rereading = now));
      if (figures) done = done ? sumOf(done, figures) : figures;
    };
    working = working.then(again);
    void admissions.note(working);
  };

  /** Seeds that this directory has and the journal does not know of. */
  const tellSeeds = (): Promise<unknown> | null => {
    const isKnown = isShared(place.url) ? !homes?.news : !homes || readIdentity(dir).seedBytes === seedBytesOf(dir);
    if (isKnown) return null;
    noteSeeds(dir);
    return parts.write({ kind: 'seeds', who: whoWeAre() });
  };

  const followHomes = async (now: Standing, was: Standing): Promise<void> => {
    if (homesText(now.settings) === homesText(was.settings)) return void (await homes?.refresh());
    const former = homes;
    homes = await open(now.settings);
    const told = tellSeeds();
    if (told) void admissions.note(told); // not waited for: it comes after the change at hand
    await former?.close();
  };

  return {
    begin: async () => void (await tellSeeds()),
    plan,
    reread,
    homes: () => homes,
    rereading: () => rereading,
    done: () => done,
    changed: async (now, was, isOurs) => {
      await followHomes(now, was);
      parts.tell(plan());
      if (releasesOf(now) !== releasesOf(was)) void admissions.note(release(parts, now, isOurs));
      if (!wantsMore(was, now)) return;
      keepIdentity(dir, { ...readIdentity(dir), widened: true });
      reread();
    },
    close: async () => {
      await homes?.close();
    },
  };
};

/** What decides which seeds have which homes. */
const homesText = ({ scope, sites }: Settings): string =>
  JSON.stringify([scope, sites.map((rule) => [rule.name, rule.scope ?? null])]);

/** What decides which links are held. */
const releasesOf = ({ scopeName, settings }: Standing): string => JSON.stringify([scopeName, sitePagesMaxOf(settings)]);

/** Members wait so long one after the other, so that not all do at the same moment what one can do for all. */
const turnOf = ({ place }: ScopeKeeperParts): number => Number(fingerprint(place.member) % TURNS) * TURN_MS;

const sumOf = (one: Reread, other: Reread): Reread => ({
  read: one.read + other.read,
  found: one.found + other.found,
  elsewhere: one.elsewhere + other.elsewhere,
  unkept: one.unkept + other.unkept,
});

/**
 * Lets links wait again that are wanted now. Whoever made the change does it; where that was no member, one of them
 * does, some time later. A member that had not heard of the change may have refused some more meanwhile, and each one
 * has heard of it, or is dead, when it is done once more.
 */
const release = async (parts: ScopeKeeperParts, { inForce }: Standing, isOurs: boolean): Promise<void> => {
  const { store, stop, now } = parts;
  if (!isOurs) await pause(SILENT_AFTER_MS + turnOf(parts), stop);
  if (stop.aborted || ((await store.census()).marks[RELEASED_MARK] ?? 0) >= inForce.number) return;
  const again = async (): Promise<void> => {
    const { settings, scopeName } = now();
    await store.steer([
      { kind: 'release-held', sitePagesMax: sitePagesMaxOf(settings) },
      { kind: 'release-refused', scope: scopeName },
      { kind: 'mark', name: RELEASED_MARK, value: inForce.number },
    ]);
  };
  await again();
  void pause(DEAD_AFTER_MS, stop).then(() => (stop.aborted ? undefined : again().catch(() => {})));
};
