/** What a page says about itself to crawlers: meta robots and X-Robots-Tag. */

export interface Directives {
  noindex: boolean;
  nofollow: boolean;
}

export const createDirectives = (): Directives => ({ noindex: false, nofollow: false });

/** Directives that have a value after a colon, and so are no names of crawlers. */
const VALUED: ReadonlySet<string> = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);

/** The content of a meta element, already known to be for us. */
export const addMeta = (into: Directives, content: string): void => {
  for (const word of content.toLowerCase().split(/[\s,;]+/)) addWord(into, word);
};

/**
 * An X-Robots-Tag header, its repeated fields joined with commas. `otherbot: noindex` speaks to
 * that crawler only, up to the next name; where fields were joined this cannot be told apart.
 */
export const addHeader = (into: Directives, header: string, productToken: string): void => {
  let forUs = true;
  for (const part of header.toLowerCase().split(',')) {
    let words = part.trim();
    const named = /^([a-z][\w.*-]*)\s*:/.exec(words);
    const name = named?.[1];
    if (named !== null && name !== undefined) {
      if (VALUED.has(name)) continue;
      forUs = name === productToken.toLowerCase() || name === 'robots';
      words = words.slice(named[0].length);
    } else if (words.startsWith('*:')) {
      forUs = true;
      words = words.slice(2);
    }
    if (forUs) for (const word of words.split(/[\s;]+/)) addWord(into, word);
  }
};

const addWord = (into: Directives, word: string): void => {
  if (word === 'noindex' || word === 'none') into.noindex = true;
  if (word === 'nofollow' || word === 'none') into.nofollow = true;
};
