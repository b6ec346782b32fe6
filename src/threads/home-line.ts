/** A fetch thread's line to those who keep the homes of the crawl. */

import { canonicalize } from '../url/canonical.ts';
import type { Homes } from '../url/homes.ts';
import type { SeedHomes } from '../visit/parts.ts';
import type { FromFetchThread } from './messages.ts';

/** What others found is asked for this often at the most: a crawl whose scope became narrow refuses many links. */
const REFRESH_MS = 250;

export interface HomeLine extends SeedHomes {
  /** Null where everything linked is wanted. */
  readonly known: Homes | null;
  /** The homes that are known from now on. */
  heard(homes: Homes | null): void;
  /** What was asked with this number has been done. */
  done(id: number): void;
}

export interface HomeLineParts {
  readonly tell: (message: FromFetchThread) => void;
  readonly now: () => number;
}

export const createHomeLine = (first: Homes | null, { tell, now }: HomeLineParts): HomeLine => {
  let known = first;
  let lastId = 0;
  let refreshing = { at: -Infinity, done: Promise.resolve() };
  const waiting = new Map<number, () => void>();
  const ask = (from: string, to: string): Promise<void> =>
    new Promise((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      tell({ kind: 'home', id, from, to });
    });
  return {
    get known() {
      return known;
    },
    heard: (homes) => void (known = homes),
    done: (id) => {
      waiting.get(id)?.();
      waiting.delete(id);
    },
    move: async (from, to) => {
      const address = canonicalize(to);
      if (typeof address === 'string' || known?.kindAt(address)) return;
      await ask(from, to);
    },
    refresh: () => {
      if (now() - refreshing.at >= REFRESH_MS) refreshing = { at: now(), done: ask('', '') };
      return refreshing.done;
    },
  };
};
