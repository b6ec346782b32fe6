/**
 * Homes that are kept as notes of the store, `home:0` and on, each with some keys: those of seeds that moved, and of
 * seeds that were added after members had joined. Whoever opens the crawl reads them in order, and goes on after the
 * last one.
 */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { createHomes, type Homes } from '../url/homes.ts';
import { seedHomes, type HomeSettings } from './seeds.ts';

const noteAt = (n: number): string => `home:${n}`;

/** The keys of each note from that one on. */
export async function* homeNotes(crawl: StoredCrawl, from = 0): AsyncGenerator<string[]> {
  for (let n = from; ; n++) {
    const text = await crawl.note(noteAt(n));
    if (text === null) return;
    yield text.split('\n');
  }
}

/** Writes a note of that number, unless there is one; gives the keys that it has then. */
export const keepHomeNote = async (crawl: StoredCrawl, n: number, keys: readonly string[]): Promise<string[]> =>
  (await crawl.keepNote(noteAt(n), keys.join('\n'))).split('\n');

/** All homes that are known at this moment; null when everything linked is wanted. */
export const homesNow = async (dir: string, settings: HomeSettings, crawl: StoredCrawl): Promise<Homes | null> => {
  const homes = createHomes(settings.scope);
  for await (const key of seedHomes(dir, settings)) homes.add(key);
  if (settings.scope === 'any' && homes.size === 0) return null;
  for await (const keys of homeNotes(crawl)) for (const key of keys) homes.add(key);
  return homes;
};
