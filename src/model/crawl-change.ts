/**
 * What the entries of a crawl's journal say: changes of settings and lists that hold for all who take part in it; and
 * what they come to.
 */

import { complaintOf } from './read-settings.ts';
import { CRAWL_SETTINGS } from './setting-table.ts';
import type { Settings } from './settings.ts';

export type CrawlChange =
  /** Settings of the crawl that are others from now on, and the list of sites never to visit, instead of the former. */
  | {
      readonly kind: 'settings';
      /** Who changed them, for people. */
      readonly who: string;
      readonly settings: Readonly<Partial<Settings>>;
      readonly excluded?: readonly string[];
    }
  /** There are more seeds, where seeds decide which links are wanted; where they are at home is in notes. */
  | { readonly kind: 'seeds'; readonly who: string };

/** An entry of a journal, as far as it matters here. */
export interface Numbered {
  readonly number: number;
  readonly id: string;
  readonly text: string;
}

/** What the entries up to one come to. */
export interface InForce {
  /** The last entry; 0 before the first. */
  readonly number: number;
  /** The id of the last entry: a store that went back in time may have given the number again. */
  readonly id: string;
  /** Settings of the crawl; all of them from the first entry on. */
  readonly settings: Readonly<Partial<Settings>>;
  /** Sites and hosts never to visit. */
  readonly excluded: readonly string[];
  /** How often there were more seeds. */
  readonly seeds: number;
}

export const NOTHING_IN_FORCE: InForce = { number: 0, id: '', settings: {}, excluded: [], seeds: 0 };

export const writeChange = (change: CrawlChange): string => JSON.stringify(change);

/**
 * The change that an entry says; null for one that this version does not know. What is wrong in it is left out: whoever
 * can write to a store must not be able to end its members.
 */
export const readChange = (text: string): CrawlChange | null => {
  const found = parsed(text);
  if (found === null) return null;
  const who = typeof found.who === 'string' ? found.who : '';
  if (found.kind === 'seeds') return { kind: 'seeds', who };
  if (found.kind !== 'settings' || !isObject(found.settings)) return null;
  const { excluded } = found;
  return {
    kind: 'settings',
    who,
    settings: ofCrawl(found.settings as Partial<Settings>, (name, value) => complaintOf(name, value) === null),
    ...(isTexts(excluded) ? { excluded } : {}),
  };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const parsed = (text: string): Record<string, unknown> | null => {
  try {
    const found = JSON.parse(text) as unknown;
    return isObject(found) ? found : null;
  } catch {
    return null;
  }
};

/** Picks the settings that belong to the crawl, and that pass. */
export const ofCrawl = (
  settings: Readonly<Partial<Settings>>,
  passes: (name: keyof Settings, value: unknown) => boolean = () => true,
): Partial<Settings> =>
  Object.fromEntries(
    CRAWL_SETTINGS.filter((name) => settings[name] !== undefined && passes(name, settings[name])).map((name) => [
      name,
      settings[name],
    ]),
  );

/** What is in force after these entries, which follow each other. */
export const fold = (was: InForce, entries: readonly Numbered[]): InForce => entries.reduce(foldOne, was);

const foldOne = (was: InForce, { number, id, text }: Numbered): InForce => {
  const now = { ...was, number, id };
  const change = readChange(text);
  switch (change?.kind) {
    case undefined:
      return now;
    case 'seeds':
      return { ...now, seeds: was.seeds + 1 };
    case 'settings':
      return { ...now, settings: { ...was.settings, ...change.settings }, excluded: change.excluded ?? was.excluded };
    default:
      return change satisfies never;
  }
};

/** What somebody wants to be in force. */
export interface Wanted {
  /** Only those of the crawl count. */
  readonly settings: Readonly<Partial<Settings>>;
  /** Null to leave the list as it is. */
  readonly excluded: readonly string[] | null;
}

/** Everything of the crawl, for its first entry: what an earlier try left behind does not matter then. */
export const beginning = (settings: Settings, excluded: readonly string[], who: string): CrawlChange => ({
  kind: 'settings',
  who,
  settings: ofCrawl(settings),
  excluded,
});

/** What has to be written to get there; null when nothing differs. */
export const changeTo = (inForce: InForce, { settings, excluded }: Wanted, who: string): CrawlChange | null => {
  const differing = ofCrawl(settings, (name, value) => !isSame(inForce.settings[name], value));
  const isOtherList = excluded !== null && !isSame(inForce.excluded, excluded);
  if (Object.keys(differing).length === 0 && !isOtherList) return null;
  return { kind: 'settings', who, settings: differing, ...(isOtherList ? { excluded } : {}) };
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
