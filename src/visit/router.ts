/** From what a page says to the links that are wanted and new. */

import type { Clock } from '../lib/clock.ts';
import type { Findings } from '../model/findings.ts';
import type { AcceptLinks } from '../model/hooks.ts';
import type { CanonicalUrl, Link } from '../model/link.ts';
import type { HookRefusal, ScopeRefusal } from '../model/outcome.ts';
import { resolverOf, type Address } from '../url/canonical.ts';
import { judgeLink, type Scope } from '../url/scope.ts';
import { siteOf } from '../url/site.ts';
import type { RecentlyAdmitted } from './recent.ts';
import { createSlices } from './slices.ts';

/** Links that a person's module is asked about in one go. */
const ACCEPT_LINKS_MAX = 1_000;

export interface Router {
  /** The links of a page that are wanted and not known to be in the store already. Null when `stop` came first. */
  route(page: Link, findings: Findings, stop?: AbortSignal): Promise<Link[] | null>;
  /** The sitemaps that the robots.txt or the sitemap of a visit names. Null when `stop` came first. */
  sitemaps(from: Link, named: NamedSitemaps, stop?: AbortSignal): Promise<Link[] | null>;
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
  readonly clock: Clock;
  readonly scope: Scope;
  readonly recent: Pick<RecentlyAdmitted, 'has'>;
  /** What a person's own module says of links that are in scope; null where there is none. */
  readonly accept: AcceptLinks | null;
  /** Counts on from here. */
  readonly refused?: Router['refused'];
}

/** Addresses as written, and what becomes of each. */
interface Gathering {
  readonly hrefs: readonly string[];
  readonly base: string;
  readonly made: (address: Address) => Link | null;
  readonly stop: AbortSignal | undefined;
}

export const createRouter = ({ clock, scope, recent, accept, refused = {} }: RouterParts): Router => {
  const inSlices = createSlices(clock);
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
  const gather = async ({ hrefs, base, made, stop }: Gathering): Promise<Link[] | null> => {
    const links: Link[] = [];
    const met = new Set<CanonicalUrl>();
    const resolve = resolverOf(base);
    const look = (href: string): void => {
      const address = resolve(href);
      if (typeof address === 'string') return void refuse(address);
      // Most links of a page are known: the cheap look comes before the site and the scope.
      if (recent.has(address.url) || met.has(address.url)) return;
      met.add(address.url);
      const link = made(address);
      if (link) links.push(link);
    };
    return (await inSlices(hrefs, look, stop)) ? links : null;
  };
  const accepted = (links: readonly Link[]): Link[] => {
    const verdicts = accept && links.length > 0 ? accept(links) : [];
    return links.filter((_, i) => !verdicts[i] || refuse(verdicts[i]));
  };
  // Many links at once: calling a person's module is guarded, and the guard costs more than the call.
  const allAccepted = async (links: Link[], stop?: AbortSignal): Promise<Link[] | null> => {
    if (!accept) return links;
    const wanted: Link[] = [];
    const ask = (part: readonly Link[]): void => void wanted.push(...accepted(part));
    return (await inSlices(partsOf(links), ask, stop)) ? wanted : null;
  };
  return {
    refused,
    route: async (page, { hrefs, base }, stop) => {
      const made = (address: Address): Link | null =>
        listable(
          page,
          judged(address, { depth: depthBelow(page), via: page.url, hops: 0, fallback: false, first: false }),
        );
      const links = await gather({ hrefs, base, made, stop });
      return links && allAccepted(links, stop);
    },
    sitemaps: (from, { hrefs, via, kind }, stop) => {
      const made = (address: Address): Link | null => {
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
      };
      return gather({ hrefs, base: via, made, stop });
    },
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

const partsOf = (links: readonly Link[]): Link[][] =>
  Array.from({ length: Math.ceil(links.length / ACCEPT_LINKS_MAX) }, (_, i) =>
    links.slice(i * ACCEPT_LINKS_MAX, (i + 1) * ACCEPT_LINKS_MAX),
  );
