/**
 * The homes of a crawl, in the process that keeps them: those of its seeds, and those that seeds moved to.
 *
 * A seed that redirects takes its home along, and nothing but the crawl itself knows where to (folder/home-notes.ts).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { FILES } from '../folder/folder.ts';
import { homeNotes, keepHomeNote } from '../folder/home-notes.ts';
import { homesOfLines, seedHomes, type HomeSettings } from '../folder/seeds.ts';
import { isShared } from '../store/address.ts';
import { openStoredCrawl } from '../store/open.ts';
import type { StorePlace } from '../store/options.ts';
import { canonicalize } from '../url/canonical.ts';
import { createHomes, homeKeys, type SharedHomes } from '../url/homes.ts';

/** Keys in one note: some 100 KB. */
const NOTE_KEYS_MAX = 2_000;
/** A server that is gone is waited for, as everywhere. */
const AGAIN_MS = 500;

export interface HomeKeeper {
  readonly shared: SharedHomes;
  /** Homes of this member's seeds that no other could know of before. */
  readonly news: number;
  /** A seed has moved: resolves when all who open the crawl later will know. Does nothing where `from` is no home. */
  move(from: string, to: string): Promise<void>;
  /** Adds the homes of more seeds; resolves as `move` does. */
  add(keys: readonly string[]): Promise<void>;
  /** Takes over what other members have noted. True when there was news. */
  refresh(): Promise<boolean>;
  close(): Promise<void>;
}

export interface KeeperOptions {
  readonly dir: string;
  readonly settings: HomeSettings;
  readonly store: StorePlace;
}

/** Null when the crawl has no homes: everything linked is wanted. */
export const openHomeKeeper = async ({ dir, settings, store }: KeeperOptions): Promise<HomeKeeper | null> => {
  const homes = createHomes(settings.scope);
  const othersTakePart = isShared(store.url);
  const open = (): Promise<StoredCrawl> => openStoredCrawl({ ...store, say: () => {} });
  const own: string[] = [];
  for await (const key of seedHomes(dir, settings)) if (homes.add(key) && othersTakePart) own.push(key);
  if (settings.scope === 'any' && homes.size === 0) return null;

  let crawl: StoredCrawl | null = null;
  let noted = 0;
  let isClosed = false;
  let working: Promise<unknown> = Promise.resolve();
  /** One thing at a time, until it works. */
  const inTurn = <T>(work: (crawl: StoredCrawl) => Promise<T>): Promise<T | null> => {
    const next = working.then(async () => {
      while (!isClosed) {
        try {
          return await work((crawl ??= await open()));
        } catch {
          await sleep(AGAIN_MS); // the store itself tells that its server is gone
        }
      }
      return null;
    });
    working = next;
    return next;
  };
  const take = (keys: readonly string[]): boolean => keys.filter((key) => homes.add(key)).length > 0;
  const read = async (stored: StoredCrawl): Promise<boolean> => {
    let isNews = false;
    for await (const keys of homeNotes(stored, noted)) {
      isNews = take(keys) || isNews;
      noted++;
    }
    return isNews;
  };
  const write = async (stored: StoredCrawl, keys: readonly string[]): Promise<void> => {
    for (let isDone = false; !isDone; ) {
      const there = await keepHomeNote(stored, noted, keys);
      noted++;
      isDone = there.join('\n') === keys.join('\n');
      take(there); // another member may have been quicker
    }
  };

  const add = async (keys: readonly string[]): Promise<void> => {
    const news = keys.filter((key) => homes.add(key));
    // Also without news of its own: another visit may be about to note the same.
    await inTurn((stored) => (news.length > 0 ? write(stored, news) : Promise.resolve()));
  };

  await inTurn(read);
  let missing: readonly string[] | null = null;
  if (othersTakePart) {
    missing = await inTurn((stored) => unknownToOthers(stored, own, settings));
    for (let at = 0; at < (missing?.length ?? 0); at += NOTE_KEYS_MAX)
      await inTurn((stored) => write(stored, missing!.slice(at, at + NOTE_KEYS_MAX)));
  }
  return {
    get shared() {
      return homes.shared;
    },
    news: missing?.length ?? 0,
    move: async (from, to) => {
      const [was, is] = [canonicalize(from), canonicalize(to)];
      const kind = typeof was === 'object' ? homes.kindAt(was) : null;
      await add(kind && typeof is === 'object' ? homeKeys(kind, is) : []);
    },
    add,
    refresh: async () => (await inTurn(read)) === true,
    close: async () => {
      isClosed = true;
      await working;
      await (crawl as StoredCrawl | null)?.close();
    },
  };
};

/** Seeds that were added here after the crawl was made known: members that joined have never heard of them. */
const unknownToOthers = async (
  crawl: StoredCrawl,
  own: readonly string[],
  settings: HomeSettings,
): Promise<string[]> => {
  const known = createHomes(settings.scope);
  for (const key of homesOfLines((await crawl.note(FILES.seeds)) ?? '', settings)) known.add(key);
  for await (const keys of homeNotes(crawl)) for (const key of keys) known.add(key);
  return own.filter((key) => known.add(key));
};
