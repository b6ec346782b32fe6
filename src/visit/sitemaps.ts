/** What is different about a visit whose link is a sitemap, or whose robots.txt names some. */

import type { Answered } from '../model/exchange.ts';
import type { Findings } from '../model/findings.ts';
import type { Link } from '../model/link.ts';
import { SITEMAP_BYTES_MAX } from '../model/sitemap.ts';
import type { VisitParts } from './parts.ts';

/**
 * Sitemaps that a robots.txt names, if it was fetched in this visit; and of the site of a seed, the usual place. Null
 * when `stop` came before the last of them.
 */
export const namedSitemaps = async (
  parts: VisitParts,
  link: Link,
  { origin, named, stop }: { origin: string; named: readonly string[]; stop: AbortSignal },
): Promise<Link[] | null> => {
  if (!parts.rules.sitemaps) return [];
  const hrefs = link.depth === 0 ? [...named, `${origin}/sitemap.xml`] : named;
  return parts.router.sitemaps(link, { hrefs, via: `${origin}/robots.txt`, kind: 'named' }, stop);
};

export const bodyBytesMaxOf = ({ rules }: VisitParts, link: Link): number =>
  link.sitemap ? SITEMAP_BYTES_MAX : rules.bodyBytesMax;

/** Bodies of types that are wanted are; a sitemap whatever its type says, for packed ones have many. */
export const isWanted = (
  { rules }: VisitParts,
  link: Link,
  { status, headers }: Pick<Answered, 'status' | 'headers'>,
): boolean =>
  (link.sitemap !== undefined && status >= 200 && status < 300) ||
  rules.wantsBody(headers['content-type'] ?? '', link.url);

/** The links of a page or sitemap, sitemaps first. Null when `stop` came before the last of them. */
export const routed = async (
  { router }: VisitParts,
  { link, findings, stop }: { link: Link; findings: Findings; stop: AbortSignal },
): Promise<Link[] | null> => {
  const { sitemaps = [] } = findings;
  const listed = await router.sitemaps(link, { hrefs: sitemaps, via: link.url, kind: 'listed' }, stop);
  const pages = listed && (await router.route(link, findings, stop));
  return pages && [...listed, ...pages];
};
