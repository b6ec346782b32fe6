/** From what a page says to the links that are wanted and new. */

import type { Findings } from '../model/findings.ts';
import type { AcceptLinks } from '../model/hooks.ts';
import type { CanonicalUrl, Link } from '../model/link.ts';
import type { HookRefusal, ScopeRefusal } from '../model/outcome.ts';
import { resolverOf, type Address } from '../url/canonical.ts';
import { judgeLink, type Scope } from '../url/scope.ts';
import { siteOf } from '../url/site.ts';
import type { RecentlyAdmitted } from './recent.ts';

export interface Router {
  /** The links of a page that are wanted and not known to be in the store already. */
  route(page: Link, findings: Findings): Link[];
  /** The sitemaps that the robots.txt or the sitemap of a visit names. */
  sitemaps(from: Link, named: NamedSitemaps): Link[];
  /** The link that a redirect becomes: first in its site's queue. Null when it is not wanted. */
  redirect(from: Link, to: Address): Link | null;
  /** How many links were refused, by the name of the reason. */
  readonly refused: Partial<Record<ScopeRefusal | HookRefusal, number>>;
}

export interface NamedSitemaps {
  readonly hrefs: readonly string[];
  /** Where they are named. */
  readonly via: string;
  readonly kind: NonNullable<Link['sitemap']>;
}

export interface RouterParts {
  readonly scope: Scope;
  readonly recent: RecentlyAdmitted;
  /** What a person's own module says of links that are in scope; null where there is none. */
  readonly accept: AcceptLinks | null;
}

export const createRouter = ({ scope, recent, accept }: RouterParts): Router => {
  const refused: Partial<Record<ScopeRefusal | HookRefusal, number>> = {};
  const refuse = (why: ScopeRefusal | HookRefusal): null => {
    refused[why] = (refused[why] ?? 0) + 1;
    return null;
  };
  const judged = (address: Address, link: Omit<Link, 'url' | 'site'>): Link | null => {
    const made: Link = { url: address.url, site: siteOf(address.host), ...link };
    const refusal = judgeLink(scope, address, made);
    return refusal ? refuse(refusal) : made;
  };
  /** A sitemap speaks for its own site only. */
  const listable = (from: Link, link: Link | null): Link | null =>
    link && from.sitemap && link.site !== from.site ? refuse('not-listable') : link;
  /** What these addresses become, each once, without those that are known to be in the store. */
  const gather = (hrefs: readonly string[], base: string, made: (address: Address) => Link | null): Link[] => {
    const links: Link[] = [];
    const met = new Set<CanonicalUrl>();
    const resolve = resolverOf(base);
    for (const href of hrefs) {
      const address = resolve(href);
      if (typeof address === 'string') {
        refuse(address);
        continue;
      }
      // Most links of a page are known: the cheap look comes before the site and the scope.
      if (recent.has(address.url) || met.has(address.url)) continue;
      met.add(address.url);
      const link = made(address);
      if (link) links.push(link);
    }
    return links;
  };
  // All links of a page at once: calling a person's module is guarded, and the guard costs more than the call.
  const accepted = (links: readonly Link[]): Link[] => {
    const verdicts = accept && links.length > 0 ? accept(links) : [];
    return links.filter((_, i) => !verdicts[i] || refuse(verdicts[i]));
  };
  return {
    refused,
    route: (page, { hrefs, base }) =>
      accepted(
        gather(hrefs, base, (address) =>
          listable(
            page,
            judged(address, { depth: depthBelow(page), via: page.url, hops: 0, fallback: false, first: false }),
          ),
        ),
      ),
    sitemaps: (from, { hrefs, via, kind }) =>
      gather(hrefs, via, (address) => {
        if (kind === 'listed' && from.sitemap === 'listed') return refuse('not-listable'); // an index lists no index
        const link = judged(address, {
          depth: depthBelow(from),
          via,
          hops: 0,
          fallback: false,
          first: false,
          sitemap: kind,
        });
        return kind === 'listed' ? listable(from, link) : link;
      }),
    redirect: (from, to) => {
      const link = judged(to, {
        depth: from.depth,
        via: from.url,
        hops: from.hops + 1,
        fallback: false,
        first: true,
        ...(from.sitemap ? { sitemap: from.sitemap } : {}),
      });
      // A person's module is asked about pages; a sitemap is only a way to them.
      return link?.sitemap ? link : (accepted(link ? [link] : [])[0] ?? null);
    },
  };
};

/** What a sitemap lists is as far from a seed as the sitemap itself: one step from the page whose visit brought it. */
const depthBelow = (link: Link): number => (link.sitemap ? link.depth : link.depth + 1);
