/** An address that the crawl may fetch, with where it was found. */

/** The one form in which a URL is known to the crawl; made only by `url/canonical.ts`. */
export type CanonicalUrl = string & { readonly canonical: unique symbol };

export interface Link {
  readonly url: CanonicalUrl;
  /** The unit of politeness the URL belongs to (see `url/site.ts`). */
  readonly site: string;
  /** Links followed from a seed to get here; a seed has 0, a redirect keeps its source's. */
  readonly depth: number;
  /** The page it was found on; empty for a seed. */
  readonly via: string;
  /** Redirects followed in a row to get here. */
  readonly hops: number;
  /** A bare domain was given as a seed: http is tried when https cannot be reached. */
  readonly fallback: boolean;
  /** Goes to the head of its site's queue instead of its end. */
  readonly first: boolean;
  /** It is read as a sitemap: one that a robots.txt or the usual place names, or one that such a sitemap lists. */
  readonly sitemap?: 'named' | 'listed';
}

/** Redirects followed in a row before a link is given up. */
export const REDIRECT_HOPS_MAX = 5;
