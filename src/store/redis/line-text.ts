/** A waiting link as a line of text, the same as in the blocks of the embedded store: depth, hops, marks, tries, address. */

import type { CanonicalUrl, Link } from '../../model/link.ts';

export interface Waiting {
  readonly link: Link;
  /** How often it was claimed. */
  readonly tries: number;
}

/** What marks a link has, a bit each. */
const FALLBACK = 1;
const NAMED_SITEMAP = 2;
const LISTED_SITEMAP = 4;

const marksOf = ({ fallback, sitemap }: Link): number =>
  (fallback ? FALLBACK : 0) | (sitemap === 'named' ? NAMED_SITEMAP : sitemap === 'listed' ? LISTED_SITEMAP : 0);

export const writeWaiting = (link: Link, tries: number): string => `${link.depth} ${link.hops} ${marksOf(link)} ${tries} ${link.url}`;

export const readWaiting = (line: string, via: string, site: string): Waiting => {
  const [depth, hops, written, tries, url] = line.split(' ', 5) as [string, string, string, string, string];
  const marks = Number(written);
  const link: Link = { url: url as CanonicalUrl, site, depth: Number(depth), via, hops: Number(hops), fallback: (marks & FALLBACK) !== 0, first: false };
  if (marks <= FALLBACK) return { tries: Number(tries), link };
  return { tries: Number(tries), link: { ...link, sitemap: marks & NAMED_SITEMAP ? 'named' : 'listed' } };
};
