/** Texts of long rules that this thread has at hand, so that the store is asked for each but once in a while. */

import type { RulesText } from '../model/long-rules.ts';
import type { Store } from '../contract/store.ts';

/** ASCII, so characters are bytes: sixty of the largest rules there can be, or some thousand of the usual long ones. */
export const CACHED_CHARS_MAX = 32 * 1024 * 1024;
/** Texts that are on their way from the store at once: with the largest rules 4 MiB, whatever was claimed. */
export const READS_MAX = 8;

export interface RulesCache {
  /** From here, or from the store; null when the store has lost it. */
  text(digest: string, site: string): Promise<string | null>;
  put(rules: RulesText): void;
}

/** A text that was not used for longest is forgotten first. */
export const createRulesCache = (read: Store['rules'], charsMax = CACHED_CHARS_MAX): RulesCache => {
  const texts = new Map<string, string>(); // in the order of their last use
  const underWay = new Map<string, Promise<string | null>>();
  const waiting: (() => void)[] = [];
  let chars = 0;
  let reads = 0;

  const put = ({ digest, text }: RulesText): void => {
    if (texts.delete(digest)) chars -= text.length;
    texts.set(digest, text);
    chars += text.length;
    for (const [oldest, { length }] of texts) {
      if (chars <= charsMax) return;
      texts.delete(oldest);
      chars -= length;
    }
  };

  /** One by one with others once READS_MAX are under way; a place that is free goes to the next in line. */
  const readInTurn = async (digest: string, site: string): Promise<string | null> => {
    if (reads < READS_MAX) reads++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      const text = await read(digest, site);
      if (text !== null) put({ digest, text });
      return text;
    } finally {
      underWay.delete(digest);
      const next = waiting.shift();
      if (next) next();
      else reads--;
    }
  };

  return {
    put,
    text: async (digest, site) => {
      const known = texts.get(digest);
      if (known !== undefined) {
        put({ digest, text: known });
        return known;
      }
      let reading = underWay.get(digest);
      if (!reading) underWay.set(digest, (reading = readInTurn(digest, site)));
      return reading;
    },
  };
};
