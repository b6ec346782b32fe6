/** Where the links of a page lead: http and https, in canonical form, in the order of the page, each once. */

import type { Findings } from '../model/findings.ts';
import { canonicalize } from './canonical.ts';

/**
 * Bytes of the links of one page that are archived: 10,000 links of 100 characters, which is more than pages have. But
 * a sitemap may list 50,000 of 2,000 characters, and its record is made in memory.
 */
export const KEPT_LINKS_BYTES_MAX = 1024 ** 2;

type Hrefs = Pick<Findings, 'hrefs' | 'base'>;

export interface PageLinks {
  readonly urls: readonly string[];
  /** Links of the page besides, over the ceiling. */
  readonly cut: number;
}

export const linksOf = (findings: Hrefs): string[] => [...keptLinksOf(findings, Infinity).urls];

/**
 * The first links of a page, up to a ceiling. Those after it are counted as they are written: each once, but not
 * brought into canonical form.
 */
export const keptLinksOf = ({ hrefs, base }: Hrefs, bytesMax = KEPT_LINKS_BYTES_MAX): PageLinks => {
  const urls = new Set<string>();
  let bytes = 0;
  for (const [i, href] of hrefs.entries()) {
    const address = canonicalize(href, base);
    if (typeof address === 'string' || urls.has(address.url)) continue;
    bytes += address.url.length; // a canonical URL is ASCII
    if (bytes > bytesMax) return { urls: [...urls], cut: hrefs.length - i };
    urls.add(address.url);
  }
  return { urls: [...urls], cut: 0 };
};
