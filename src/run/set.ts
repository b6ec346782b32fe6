/** `gossamer set`: changes settings and lists of a crawl for all who take part in it, whether it runs or not. */

import { closeSync, existsSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askProcess, type ControlRequest } from '../folder/control-client.ts';
import { checkFixed, FILES, keepIdentity, readIdentity, type Identity } from '../folder/folder.ts';
import { inForceNow, keepCopy, newEntry, whoWeAre } from '../folder/in-force.ts';
import { lockCrawl, lockOwner } from '../folder/lock.ts';
import { checkNotMoved, identityIn, withCrawl } from '../folder/notes.ts';
import { excludedNames, readExcludeFile } from '../folder/seeds.ts';
import { crawlNameOf, knownStore, newStore, storePlace } from '../folder/store-place.ts';
import { beginning, changeTo, ofCrawl, type CrawlChange, type InForce, type Wanted } from '../model/crawl-change.ts';
import { completeSettings, UsageError } from '../model/read-settings.ts';
import { hasFlag, SETTING_NAMES, SETTINGS } from '../model/setting-table.ts';
import type { Settings } from '../model/settings.ts';
import { isShared } from '../store/address.ts';
import type { LookOptions } from '../store/options.ts';
import { SHARDS } from '../url/shard.ts';
import { checkedOfCrawl } from './check-settings.ts';
import type { Live } from './live.ts';
import { wantsMore } from './wider.ts';

export interface SetRequest {
  /** Null for a crawl in a shared store that is named by `store` and `name`. */
  readonly dir: string | null;
  /** What is to be in force; `store` and `name` say which crawl. */
  readonly settings: Readonly<Partial<Settings>>;
  readonly excludeFile: string | null;
  readonly say: (text: string) => void;
}

/** What became of it. */
export interface Changed {
  /** The change, or the last one where nothing differed. */
  readonly number: number;
  readonly isNew: boolean;
  /** Settings that are others now, as they were and as they are. */
  readonly was: Readonly<Partial<Settings>>;
  readonly now: Readonly<Partial<Settings>>;
  /** How many sites are excluded by the list; null where the list is as it was. */
  readonly excluded: { readonly was: number; readonly now: number } | null;
}

export const setCrawl = async ({ dir, settings: given, excludeFile, say }: SetRequest): Promise<Changed> => {
  const { store, name, ...settings } = given;
  refuseOwn(settings);
  const wanted: Wanted = { settings, excluded: excludeFile === null ? null : readExcludeFile(excludeFile) };
  if (Object.keys(settings).length === 0 && wanted.excluded === null)
    throw new UsageError('nothing is to be set: give the settings to change, such as --delay 5s');
  if (dir === null) return setNamed({ store, name, say }, wanted);
  const identity = readIdentity(dir);
  checkFixed(dir, identity);
  const url = knownStore(identity.settings.store, store);
  const place = { ...storePlace(dir, identity, url), say };
  return isShared(url) ? setShared(place, identity.settings, wanted) : setEmbedded({ dir, identity, place }, wanted);
};

/** What a running process does with a request of this kind, which comes from `setEmbedded` of another. */
export const setLive = async (live: Live, request: ControlRequest): Promise<Changed> => {
  const { settings = {}, excluded = null } = request as unknown as Partial<Wanted>;
  refuseOwn(settings);
  const { inForce, settings: standing } = live.now();
  const { change, changed } = planned({ inForce, standing }, { settings, excluded });
  return change ? { ...changed, number: (await live.write(change)).inForce.number } : changed;
};

/** Throws a UsageError for what is not the crawl's. */
const refuseOwn = (settings: Readonly<Partial<Settings>>): void => {
  for (const name of Object.keys(settings) as (keyof Settings)[]) {
    if (!SETTING_NAMES.includes(name)) throw new UsageError(`there is no setting "${name}"`);
    const { whose, flag } = SETTINGS[name];
    const written = `${hasFlag(name) ? '--' : ''}${flag}`;
    if (whose === 'member')
      throw new UsageError(
        `${written} belongs to one process, not to the whole crawl: stop that process, and give it to "gossamer resume"`,
      );
    if (whose === 'fixed') throw new UsageError(`${written} is chosen when a crawl begins, and cannot be changed`);
  }
};

interface Given {
  readonly inForce: InForce;
  /** All settings, as they are now. */
  readonly standing: Settings;
}

/** What has to be written. Throws a UsageError when it cannot be. */
const planned = ({ inForce, standing }: Given, wanted: Wanted): { change: CrawlChange | null; changed: Changed } => {
  const { settings, excluded } = wanted;
  if (excluded !== null && !(Array.isArray(excluded) && excluded.every((name) => typeof name === 'string')))
    throw new UsageError('the list of sites never to visit is no list of texts');
  const complete = completeSettings({ ...standing, ...settings }, availableParallelism());
  const checked = ofCrawl(checkedOfCrawl(complete), (name) => name in settings);
  const change = changeTo(inForce, { settings: checked, excluded }, whoWeAre());
  const now = change?.kind === 'settings' ? change.settings : {};
  const list = change?.kind === 'settings' ? change.excluded : undefined;
  const changed = {
    number: inForce.number,
    isNew: change !== null,
    was: ofCrawl(inForce.settings, (name) => name in now),
    now,
    excluded: list ? { was: inForce.excluded.length, now: list.length } : null,
  };
  return { change, changed };
};

/** Running members hear of it by themselves. */
const setShared = (place: LookOptions, kept: Settings, wanted: Wanted): Promise<Changed> =>
  withCrawl(place, async (crawl) => {
    await checkNotMoved(crawl, place);
    const inForce = await inForceNow((after) => crawl.journal(after));
    if (inForce.number === 0)
      throw new UsageError(`the crawl "${place.crawl}" has not begun yet: give its settings to "gossamer resume"`);
    const { change, changed } = planned({ inForce, standing: { ...kept, ...inForce.settings } }, wanted);
    return change ? { ...changed, number: await crawl.write(newEntry(change)) } : changed;
  });

const setNamed = async (
  { store, name = '', say }: { store: string | undefined; name: string | undefined; say: SetRequest['say'] },
  wanted: Wanted,
): Promise<Changed> => {
  const url = newStore(store);
  if (!isShared(url) || name === '')
    throw new UsageError(
      'which crawl is missing: give its directory, such as ./crawl, or --store WHERE and --name NAME of one in Redis or PostgreSQL',
    );
  const crawl = crawlNameOf(name, '.');
  const place = { url, crawl, member: '', shards: SHARDS, frontier: 'store', dir: '.', say } as const;
  return setShared(place, (await identityIn(place)).settings, wanted);
};

interface Embedded {
  readonly dir: string;
  readonly identity: Identity;
  readonly place: LookOptions;
}

/** A process that is opening or closing its store does not listen. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 100;

/** One thread writes the store: that of the process which has it open, or ours when none has. */
const setEmbedded = async (embedded: Embedded, wanted: Wanted): Promise<Changed> => {
  const { dir } = embedded;
  for (const since = performance.now(); ; await sleep(AGAIN_MS)) {
    const told = await askProcess(dir, { kind: 'set', ...wanted });
    if (told) return told as Changed;
    const owner = lockOwner(dir);
    if (owner === 0) break;
    if (performance.now() - since > PATIENCE_MS)
      throw new UsageError(
        `crawl "${dir}" is open in process ${owner}, which does not listen yet: try again when it crawls`,
      );
  }
  const lock = lockCrawl(dir);
  try {
    return await setAtRest({ ...embedded, identity: readIdentity(dir) }, wanted);
  } finally {
    lock.release();
  }
};

const setAtRest = ({ dir, place, identity }: Embedded, wanted: Wanted): Promise<Changed> =>
  withCrawl(place, async (crawl) => {
    const journal = (after: number) => crawl.journal(after);
    syncArchive(dir);
    if ((await journal(0)).length === 0)
      await crawl.write(newEntry(beginning(identity.settings, excludedNames(dir), whoWeAre())));
    const inForce = await inForceNow(journal);
    const standing = { ...identity.settings, ...inForce.settings };
    const { change, changed } = planned({ inForce, standing }, wanted);
    if (!change) return changed;
    const number = await crawl.write(newEntry(change));
    const now = await inForceNow(journal, inForce);
    const settings = { ...standing, ...now.settings };
    const isMore = wantsMore({ settings: standing, inForce }, { settings, inForce: now });
    const kept = keepCopy(dir, now, settings);
    if (isMore) keepIdentity(dir, { ...kept, widened: true }); // the next run reads archived pages again
    return { ...changed, number };
  });

/** Who closes the database last moves its log into it; what the log says of the archive must be on disk by then. */
const syncArchive = (dir: string): void => {
  const folder = join(dir, FILES.warc);
  const last = existsSync(folder) ? readdirSync(folder).toSorted().at(-1) : undefined;
  if (last === undefined) return;
  const file = openSync(join(folder, last), 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};
