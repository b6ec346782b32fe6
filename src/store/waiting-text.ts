/**
 * The text of a waiting link, one form in every store: `depth hops marks tries url`. Where the link was found is kept
 * beside it, once for many.
 *
 * Scripts and SQL count fields from 1, set off by single spaces: tries are the fourth, the URL is the fifth and last.
 */

import type { CanonicalUrl, Link } from '../model/link.ts';
import type { Waiting } from '../model/waiting.ts';

/** What a link is besides an address, a bit each. */
const FALLBACK = 1;
const NAMED_SITEMAP = 2;
const LISTED_SITEMAP = 4;

/** One waiting link, and nothing else; a store whose text is another is damaged. */
const WAITING_TEXT = /^(\d+) (\d+) ([0-7]) (\d+) (https?:\/\/\S+)$/;

export const writeWaiting = ({ link, tries }: Waiting): string =>
  `${link.depth} ${link.hops} ${marksOf(link)} ${tries} ${link.url}`;

const marksOf = ({ fallback, sitemap }: Link): number =>
  (fallback ? FALLBACK : 0) | (sitemap === 'named' ? NAMED_SITEMAP : sitemap === 'listed' ? LISTED_SITEMAP : 0);

/** Null for a text that is none. */
export const readWaiting = (text: string, via: string, site: string): Waiting | null => {
  const [, depth, hops, marks, tries, url] = WAITING_TEXT.exec(text) ?? [];
  if (url === undefined) return null;
  const link: Link = {
    url: url as CanonicalUrl,
    site,
    depth: Number(depth),
    via,
    hops: Number(hops),
    fallback: (Number(marks) & FALLBACK) !== 0,
    first: false,
  };
  const sitemap = Number(marks) & NAMED_SITEMAP ? 'named' : Number(marks) & LISTED_SITEMAP ? 'listed' : null;
  return { link: sitemap ? { ...link, sitemap } : link, tries: Number(tries) };
};

/** Each line a waiting link that was found on one page; null when one of them is none. Lines end with a newline. */
export const readWaitingLines = (lines: string, via: string, site: string): Waiting[] | null => {
  if (!lines.endsWith('\n')) return null;
  const all: Waiting[] = [];
  for (const line of lines.slice(0, -1).split('\n')) {
    const waiting = readWaiting(line, via, site);
    if (waiting === null) return null;
    all.push(waiting);
  }
  return all;
};
