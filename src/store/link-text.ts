/**
 * A waiting link as a line of text: depth, hops, marks, tries, address. Where it was found is written once for many.
 */

import type { CanonicalUrl, Link } from '../model/link.ts';

export interface Waiting {
  readonly link: Link;
  /** How often it was claimed. */
  readonly tries: number;
}

/** What marks a link has, a bit each. */
const FALLBACK = 1;
const NAMED_SITEMAP = 2;
const LISTED_SITEMAP = 4;

export const marksOf = ({ fallback, sitemap }: Link): number =>
  (fallback ? FALLBACK : 0) | (sitemap === 'named' ? NAMED_SITEMAP : sitemap === 'listed' ? LISTED_SITEMAP : 0);

/** The numbers and the address as they were written. */
export interface LinkWords {
  readonly depth: string;
  readonly hops: string;
  readonly marks: string;
  readonly url: string;
}

export const linkOf = ({ depth, hops, marks: written, url }: LinkWords, via: string, site: string): Link => {
  const marks = Number(written);
  const link: Link = {
    url: url as CanonicalUrl,
    site,
    depth: Number(depth),
    via,
    hops: Number(hops),
    fallback: (marks & FALLBACK) !== 0,
    first: false,
  };
  return marks <= FALLBACK ? link : { ...link, sitemap: marks & NAMED_SITEMAP ? 'named' : 'listed' };
};

export const writeWaiting = (link: Link, tries: number): string =>
  `${link.depth} ${link.hops} ${marksOf(link)} ${tries} ${link.url}`;

export const readWaiting = (line: string, via: string, site: string): Waiting => {
  const [depth, hops, marks, tries, url] = line.split(' ', 5) as [string, string, string, string, string];
  return { tries: Number(tries), link: linkOf({ depth, hops, marks, url }, via, site) };
};
