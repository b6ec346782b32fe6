/** The link of a settled page that must be fetched again, as it waited once. */

import type { CanonicalUrl, Link } from '../../model/link.ts';
import type { PageRow } from '../../model/page.ts';
import type { Waiting } from '../../model/waiting.ts';

/** A row does not keep how a sitemap was found: one that robots.txt named is known by where it was found. */
export const takenBack = ({ url, site, depth, via }: Pick<PageRow, 'url' | 'site' | 'depth' | 'via'>): Waiting => {
  const link: Link = { url: url as CanonicalUrl, site, depth, via, hops: 0, fallback: false, first: true };
  return { link: via.endsWith('/robots.txt') ? { ...link, sitemap: 'named' } : link, tries: 0 };
};
