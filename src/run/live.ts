/** What is in force while a crawl runs: follows the journal of the crawl, and writes to it. */

import type { Beat, Entry } from '../contract/journal.ts';
import type { Store } from '../contract/store.ts';
import { inForceNow, keepCopy, newEntry, whoWeAre } from '../folder/in-force.ts';
import { scopeName } from '../folder/scope-name.ts';
import { excludedNames, siteSetOf } from '../folder/seeds.ts';
import { pause } from '../lib/pause.ts';
import { beginning, readChange, type CrawlChange, type InForce } from '../model/crawl-change.ts';
import { BEAT_MS } from '../model/pulse.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import type { Log } from '../observe/log.ts';
import type { SiteSet } from '../url/site-set.ts';
import { checkedOfCrawl } from './check-settings.ts';

/** Entries that are written again if the store forgets them. */
const REMEMBERED_MAX = 100;
/** An exclude list of a million sites has some 20 million characters. */
const REMEMBERED_CHARACTERS_MAX = 32_000_000;

/** What holds for this member at one moment. */
export interface Standing {
  readonly inForce: InForce;
  /** All settings: of the crawl as the journal says, and this member's own. */
  readonly settings: Settings;
  readonly excluded: SiteSet | null;
  readonly scopeName: string;
}

export interface LiveParts {
  readonly dir: string;
  /** As the crawl was opened. */
  readonly settings: Settings;
  readonly store: Pick<Store, 'beat' | 'journal' | 'steer'>;
  readonly log: Log;
  /** Does what follows from a change; the next one waits for it. */
  readonly onChange: (now: Standing, was: Standing, isOurs: boolean) => Promise<void>;
}

export interface Live {
  now(): Standing;
  /** The journal has this entry, somebody says. Resolves when it is in force here. */
  heard(number: number): Promise<void>;
  /** Writes a change for all members. Resolves when it is in force here. */
  write(change: CrawlChange): Promise<Standing>;
  /** Asks for the number of the last entry, every second. */
  follow(stop: AbortSignal): Promise<void>;
}

/** Reads the journal, and writes what a person wants to be in force from now on. */
export const openLive = async (parts: LiveParts, wanted: CrawlChange | null): Promise<Live> => {
  const { dir, store, log } = parts;
  const journal = (after: number): Promise<readonly Entry[]> => store.journal(after);
  const write = (change: CrawlChange): Promise<void> => store.steer([{ kind: 'write', entry: newEntry(change) }]);
  const standingOf = (inForce: InForce): Standing => {
    const settings = checkedOfCrawl({ ...parts.settings, ...inForce.settings });
    const { excluded } = inForce;
    return { inForce, settings, excluded: siteSetOf(excluded), scopeName: scopeName(settings, inForce) };
  };

  const [first] = await journal(0);
  if (!first) await write(beginning(parts.settings, excludedNames(dir), whoWeAre()));
  if (wanted) await write(wanted);
  let standing = standingOf(await inForceNow(journal));
  keepCopy(dir, standing.inForce, standing.settings);
  const { number } = standing.inForce;
  let remembered: readonly Entry[] = number === 0 ? [] : await journal(number - 1);
  let working: Promise<unknown> = Promise.resolve();

  const take = async (isOurs: boolean): Promise<void> => {
    const was = standing;
    const known = remembered.at(-1);
    const there = known ? await journal(known.number - 1) : [];
    if (known && there[0]?.id !== known.id) await remind(there);
    const inForce = await inForceNow(journal, was.inForce);
    const { number, id } = inForce;
    if (number === was.inForce.number && id === was.inForce.id) return;
    const after = number > was.inForce.number ? was.inForce.number : number - 1;
    const news = await journal(after);
    remembered = lastOf([...remembered, ...news]);
    standing = taken(was, inForce);
    keepCopy(dir, inForce, standing.settings);
    for (const entry of news) tell(log, entry);
    await parts.onChange(standing, was, isOurs);
  };

  /** The store went back in time, and forgot what was in force: who knows it writes it again. Ids make that safe. */
  const remind = async (there: readonly Entry[]): Promise<void> => {
    const ids = new Set(there.map(({ id }) => id));
    for (const { id, text } of remembered)
      if (!ids.has(id)) await store.steer([{ kind: 'write', entry: { id, text } }]);
    remembered = [];
  };

  /** Whoever can write to the store must not be able to stop its members. */
  const taken = (was: Standing, inForce: InForce): Standing => {
    try {
      return standingOf(inForce);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      log(
        'error',
        `change ${inForce.number} of the crawl cannot be taken, and what was in force stays: ${error.message}`,
      );
      return { ...was, inForce };
    }
  };

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = working.then(work);
    working = next.catch(() => {});
    return next;
  };

  return {
    now: () => standing,
    heard: (number) => inTurn(() => (number <= standing.inForce.number ? Promise.resolve() : take(false))),
    write: async (change) => {
      await inTurn(async () => {
        await write(change);
        await take(true);
      });
      return standing;
    },
    follow: async (stop) => {
      for (let term = 0; !stop.aborted; await pause(BEAT_MS, stop)) {
        const beat = await heardNow(store);
        // In a new term the store may have gone back, and given the same number to another entry.
        const isNews = beat.entry !== standing.inForce.number || beat.term !== term;
        ({ term } = beat);
        if (isNews && !stop.aborted) await inTurn(() => take(false));
      }
    },
  };
};

/** The number of the last entry and the term, as they are known now. */
const heardNow = (store: Pick<Store, 'beat'>): Promise<Beat> => store.beat();

/** As many of the last entries as are remembered. */
const lastOf = (entries: readonly Entry[]): readonly Entry[] => {
  const last = entries.slice(-REMEMBERED_MAX);
  let left = REMEMBERED_CHARACTERS_MAX;
  const kept = last.findLastIndex(({ text }) => (left -= text.length) < 0);
  return last.slice(kept + 1);
};

const tell = (log: Log, { number, text }: Entry): void => {
  const change = readChange(text);
  if (change === null) return log('warn', `change ${number} of the crawl is of a kind that this version does not know`);
  const { who } = change;
  if (change.kind === 'seeds')
    return log('info', `change ${number} of the crawl, by ${who}: more seeds`, { number, who });
  const names = [...Object.keys(change.settings), ...(change.excluded ? ['excluded'] : [])];
  log('info', `change ${number} of the crawl, by ${who}: ${names.join(', ')}`, { number, who, names });
};
