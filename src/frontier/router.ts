/** From what a page says to the links that are wanted and new. */

import type { Findings } from '../model/findings.ts';
import type { CanonicalUrl, Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import { canonicalize, type Address } from '../url/canonical.ts';
import type { Scope } from '../url/scope.ts';
import { siteOf } from '../url/site.ts';
import type { RecentlyAdmitted } from './recent.ts';

export interface Router {
  /** The links of a page that are wanted and not known to be in the store already. */
  route(page: Link, findings: Findings): Link[];
  /** The link that a redirect becomes: first in its site's line. Null when it is not wanted. */
  redirect(from: Link, to: Address): Link | null;
  /** How many links were refused, by the name of the reason. */
  readonly refused: Partial<Record<ScopeRefusal, number>>;
}

export const createRouter = ({ scope, recent }: { scope: Scope; recent: RecentlyAdmitted }): Router => {
  const refused: Partial<Record<ScopeRefusal, number>> = {};
  const refuse = (why: ScopeRefusal): null => {
    refused[why] = (refused[why] ?? 0) + 1;
    return null;
  };
  const judged = (address: Address, link: Omit<Link, 'url' | 'site'>): Link | null => {
    const site = siteOf(address.host);
    const refusal = scope.judge(address, site, link.depth);
    return refusal ? refuse(refusal) : { url: address.url, site, ...link };
  };
  return {
    refused,
    route(page, findings) {
      const links: Link[] = [];
      const onPage = new Set<CanonicalUrl>();
      for (const href of findings.hrefs) {
        const address = canonicalize(href, findings.base);
        if (typeof address === 'string') {
          refuse(address);
          continue;
        }
        // Most links of a page are known: the cheap look comes before the site and the scope.
        if (onPage.has(address.url) || recent.has(address.url)) continue;
        onPage.add(address.url);
        const link = judged(address, { depth: page.depth + 1, via: page.url, hops: 0, fallback: false, first: false });
        if (link) links.push(link);
      }
      return links;
    },
    redirect: (from, to) =>
      judged(to, { depth: from.depth, via: from.url, hops: from.hops + 1, fallback: false, first: true }),
  };
};
