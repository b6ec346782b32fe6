/** The links of a feed: RSS 0.9x and 2.0, RSS 1.0 (which is RDF), and Atom. */

import { addHref, createHrefs } from './hrefs.ts';
import {
  type Attributes,
  attributeValue,
  createAttributes,
  has,
  HREF,
  PERMALINK,
  readAttributes,
  REL,
  XML_BASE,
} from './html/attributes.ts';
import { bogusEnd } from './html/skip.ts';
import { FEED_TYPES } from './media-type.ts';
import { isSameName, type Name, nextTag, readAddress, SLASH, tagAt } from './xml-tags.ts';

const ROOTS: ReadonlySet<string> = new Set(['rss', 'feed', 'RDF']);
const ENTRIES: ReadonlySet<string> = new Set(['item', 'entry']);

/** Known by its type (without parameters) or by its root element: many feeds are sent as XML, HTML or plain text. */
export const isFeed = (type: string, text: string): boolean => {
  if (FEED_TYPES.has(type)) return true;
  if (!/^\s*</.test(text)) return false;
  const root = nextTag(text, 0);
  return root >= 0 && ROOTS.has(tagAt(text, root).local);
};

export interface Feed {
  /** Addresses as written, each once and in order. */
  readonly hrefs: readonly string[];
  /** What they are relative to, as written; null when the feed does not say. */
  readonly base: string | null;
}

/**
 * Links are the `link` and `guid` directly in an `item` or `entry`. Those of the feed itself are left: they lead to the
 * pages that lead to it. Depth is counted anew in each entry, so that one broken entry costs no other.
 */
export const readFeed = (text: string, hrefsMax: number): Feed => {
  const hrefs = createHrefs(hrefsMax);
  const attributes = createAttributes(text);
  let base: string | null = null;
  let entry: Name | null = null;
  let depth = 0;
  let at = nextTag(text, 0);
  while (at >= 0 && hrefs.list.length < hrefsMax) {
    const tag = tagAt(text, at);
    let end = bogusEnd(text, at + 1);
    const isEmpty = text.charCodeAt(end - 2) === SLASH;
    if (ENTRIES.has(tag.local) && (entry === null || isSameName(entry, tag))) {
      entry = tag.closes || isEmpty ? null : tag;
      depth = 0;
    } else if (entry === null) {
      if (base === null && ROOTS.has(tag.local)) base = baseAt(attributes, tag.nameEnd);
    } else if (tag.closes) {
      depth = Math.max(0, depth - 1);
    } else if (depth === 0 && (tag.local === 'link' || tag.local === 'guid')) {
      readAttributes(attributes, tag.nameEnd, true);
      if (attributes.end < 0) break; // the feed ends within this tag
      end = attributes.end;
      if (!attributes.selfClosing) depth = 1;
      if (tag.local === 'link' && has(attributes, HREF)) {
        if (isAlternate(attributes)) addHref(hrefs, attributeValue(attributes, HREF));
      } else if (!attributes.selfClosing) {
        const address = readAddress(text, end);
        end = address.end;
        if (tag.local === 'link' || isPermalink(attributes, address.href)) addHref(hrefs, address.href);
      }
    } else if (!isEmpty) {
      depth += 1;
    }
    at = nextTag(text, end);
  }
  return { hrefs: hrefs.list, base };
};

const baseAt = (attributes: Attributes, nameEnd: number): string | null => {
  readAttributes(attributes, nameEnd, true);
  return attributes.end >= 0 && has(attributes, XML_BASE) ? attributeValue(attributes, XML_BASE) : null;
};

/** RFC 4287, 4.2.7.2: alternate is what a link is that does not say. */
const isAlternate = (attributes: Attributes): boolean => {
  const rel = attributeValue(attributes, REL).trim().toLowerCase();
  return rel === '' || rel === 'alternate';
};

/** RSS 2.0: a guid is an address unless it says otherwise. Many that are none do not say so. */
const isPermalink = (attributes: Attributes, guid: string): boolean =>
  attributeValue(attributes, PERMALINK).trim().toLowerCase() !== 'false' && /^https?:\/\//i.test(guid);
