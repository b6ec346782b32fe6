/** What X-Robots-Tag and meta robots ask: not to index a page, not to follow its links. */

export interface RobotsTag {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

/** Directives that take a value behind a colon, so that this colon names no bot. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);
const BOT = /^[a-z*][a-z0-9_.*-]*$/;

/**
 * Read the value of X-Robots-Tag, or the content of a meta robots. In `otherbot: noindex, nofollow`
 * the name holds for all that follows it, until the next name. What is asked of us and what is
 * asked of everyone add up.
 */
export const readRobotsTag = (value: string, productToken: string): RobotsTag => {
  const token = productToken.toLowerCase();
  let forUs = true;
  let noindex = false;
  let nofollow = false;
  for (const item of value.toLowerCase().split(',')) {
    const colon = item.indexOf(':');
    const name = colon < 0 ? '' : item.slice(0, colon).trim();
    const isBot = colon >= 0 && !VALUED.has(name) && BOT.test(name);
    if (isBot) forUs = name === token || name === '*' || name === 'robots';
    if (!forUs) continue;
    for (const word of (isBot ? item.slice(colon + 1) : item).split(/\s+/)) {
      if (word === 'noindex' || word === 'none') noindex = true;
      if (word === 'nofollow' || word === 'none') nofollow = true;
    }
  }
  return { noindex, nofollow };
};
