/** What is different about a visit whose link is a sitemap, or whose robots.txt names some. */

import type { Answered } from '../model/exchange.ts';
import { HREFS_PER_PAGE_MAX, type Findings } from '../model/findings.ts';
import type { Link } from '../model/link.ts';
import { SITEMAP_BYTES_MAX } from '../model/sitemap.ts';
import type { VisitParts } from './parts.ts';

/** Sitemaps that a robots.txt names, if it was fetched in this visit; and of the site of a seed, the usual place. */
export const namedSitemaps = (
  parts: VisitParts,
  link: Link,
  { origin, named }: { origin: string; named: readonly string[] },
): Link[] => {
  if (!parts.rules.sitemaps) return [];
  const hrefs = link.depth === 0 ? [...named, `${origin}/sitemap.xml`] : named;
  return parts.router.sitemaps(link, { hrefs, via: `${origin}/robots.txt`, kind: 'named' });
};

export const bodyBytesMaxOf = ({ rules }: VisitParts, link: Link): number =>
  link.sitemap ? SITEMAP_BYTES_MAX : rules.bodyBytesMax;

/** Text is read; a sitemap whatever its type says, for packed ones have many. */
export const isRead = (
  { rules }: VisitParts,
  link: Link,
  { status, headers }: Pick<Answered, 'status' | 'headers'>,
): boolean =>
  (link.sitemap !== undefined && status >= 200 && status < 300) || rules.isText(headers['content-type'] ?? '');

/**
 * The links of a page or sitemap. As many at a time as a page may have: a sitemap may list more, and other visits wait
 * meanwhile.
 */
export const routed = async ({ router, clock }: VisitParts, link: Link, findings: Findings): Promise<Link[]> => {
  const { hrefs, sitemaps = [] } = findings;
  const links = sitemaps.length > 0 ? router.sitemaps(link, { hrefs: sitemaps, via: link.url, kind: 'listed' }) : [];
  for (let at = 0; at < hrefs.length; at += HREFS_PER_PAGE_MAX) {
    if (at > 0) await clock.sleep(0);
    for (const one of router.route(link, { ...findings, hrefs: hrefs.slice(at, at + HREFS_PER_PAGE_MAX) }))
      links.push(one);
  }
  return links;
};
