/**
 * A model of the web: what every URL answers, computed from a seed, with no sockets and nothing stored.
 *
 * Sites are few large and many small. Pages of a site are a tree, and most have that one in-link only, because
 * redundant links hide lost ones; cross links lead to every third page. Some children are reached through a
 * redirect alone. What is odd stands on leaves, so that it hides nothing behind it.
 *
 * Some sites have other origins, most of them dead; links to these stand before all others, also on another site.
 */

import { diceFor, mix } from '../../src/world/random.ts';

export interface WebPlan {
  readonly seed: number;
  readonly sites: number;
  /** Mean number of pages of a site. */
  readonly pagesMean: number;
  readonly pagesMax: number;
  readonly crossLinks: number;
  /** Share of sites that are in some trouble, 0 to 1. */
  readonly troubled: number;
  /** The first so many sites are seeds; the others are found. */
  readonly seedSites: number;
  /** Whether sites have pages that only their sitemaps lead to. */
  readonly sitemaps?: boolean;
}

/** What is wrong with a whole site. */
export type Health = 'sound' | 'dead' | 'robots-500' | 'flaky';

/**
 * What is wrong with one origin: nothing; its name does not exist; nobody listens there; its robots.txt fails; or it is
 * down for a minute now and then.
 */
export type OriginHealth = 'sound' | 'gone' | 'down' | 'robots-500' | 'flapping';

export interface ModelSite {
  readonly index: number;
  readonly name: string;
  readonly pages: number;
  readonly health: Health;
  readonly latencyMs: number;
  /** What its robots.txt says; null: there is none (404). */
  readonly robots: { readonly crawlDelayMs: number } | null;
}

export type PageKind =
  | 'plain'
  | 'missing'
  | 'broken'
  | 'busy-once'
  | 'private'
  | 'poison'
  | 'hangs'
  | 'redirect'
  | 'sitemap';

export interface ModelPage {
  readonly kind: PageKind;
  readonly hrefs: readonly string[];
  /** Where a redirect leads. */
  readonly target: string;
  /** What an index of sitemaps lists. */
  readonly sitemaps?: readonly string[];
}

export interface ModelWeb {
  readonly plan: WebPlan;
  readonly seeds: readonly string[];
  site(index: number): ModelSite;
  /** The site of a host. */
  siteNamed(host: string): ModelSite;
  originHealth(url: string): OriginHealth;
  /** Null for a URL that is not of this web. */
  page(url: string): ModelPage | null;
}

/** One in so many sites has other origins. */
const SITES_PER_ORIGINS = 3;
/** By what their addresses begin with. */
const ORIGINS: Readonly<Record<string, OriginHealth>> = {
  'http://gone.': 'gone',
  'http://down.': 'down',
  'http://odd.': 'robots-500',
  'http://flap.': 'flapping',
  'https://': 'down',
};
const ORIGIN_PAGES = 3;
const CHILDREN = 4;
const PARTS = 3;
const PART_PAGES = 3;
/** Where the robots.txt of a site says that its sitemaps are. */
export const INDEX_PATH = 'index.gz';
const SITE_CHILDREN = 3;
const ODD_PERCENT = 12;
const ODD: readonly PageKind[] = ['missing', 'broken', 'busy-once', 'private', 'poison', 'hangs'];

export const createWeb = (plan: WebPlan): ModelWeb => {
  const origin = (site: number): string => `http://s${site}.example`;
  const site = (index: number): ModelSite => {
    const dice = diceFor(mix(plan.seed, index));
    const share = (dice(1_000_000) + 1) / 1_000_000;
    // Pareto with a mean of three times its least: a heavy tail, cut at pagesMax.
    const pages = Math.max(1, Math.min(plan.pagesMax, Math.floor((plan.pagesMean / 3) * share ** (-1 / 1.5))));
    const troubled = index >= plan.seedSites && dice(1_000) < plan.troubled * 1_000;
    const health: Health = troubled ? (['dead', 'robots-500', 'flaky', 'flaky'] as const)[dice(4)]! : 'sound';
    const latencyMs = 20 + Math.floor(50 * ((dice(1_000) + 1) / 1_000) ** -0.8);
    const robots = dice(3) === 0 ? null : { crawlDelayMs: dice(5) === 0 ? 1_000 * (1 + dice(30)) : 0 };
    return { index, name: `s${index}.example`, pages, health, latencyMs, robots };
  };

  const isLeaf = (pages: number, number: number): boolean => number * CHILDREN + 1 >= pages;

  const kindOf = (of: ModelSite, number: number): PageKind => {
    if (number === 0 || !isLeaf(of.pages, number)) return 'plain';
    const dice = diceFor(mix(mix(plan.seed, of.index) ^ 0x2545f491, number));
    return dice(100) < ODD_PERCENT ? ODD[dice(ODD.length)]! : 'plain';
  };

  /** How a page is linked: some only through a redirect, the private ones under their own path. */
  const hrefOf = (of: ModelSite, number: number): string => {
    if (number === 0) return `${origin(of.index)}/`;
    if (kindOf(of, number) === 'private') return `${origin(of.index)}/private/${number}`;
    const viaRedirect = mix(mix(plan.seed, of.index) ^ 0x1b873593, number) % 12 === 0;
    return `${origin(of.index)}/${viaRedirect ? 'r' : 'p'}/${number}`;
  };

  const originLinks = (index: number): string[] =>
    mix(plan.seed ^ 0x5bd1e995, index) % SITES_PER_ORIGINS > 0
      ? []
      : Object.keys(ORIGINS).flatMap((begin) =>
          Array.from({ length: ORIGIN_PAGES }, (_, n) => `${begin}s${index}.example/side/${n}`),
        );

  const linksOf = (of: ModelSite, number: number): string[] => {
    const hrefs: string[] = [];
    for (let child = number * CHILDREN + 1; child <= number * CHILDREN + CHILDREN && child < of.pages; child++)
      hrefs.push(hrefOf(of, child));
    if (number === 0) {
      // Those of the next site: whoever mistypes an address must not harm it.
      hrefs.unshift(...originLinks(of.index), ...(of.index + 1 < plan.sites ? originLinks(of.index + 1) : []));
      // Sites are a tree too: the front page of one is linked from one other only.
      const first = plan.seedSites + of.index * SITE_CHILDREN;
      for (let next = first; next < first + SITE_CHILDREN && next < plan.sites; next++) hrefs.push(`${origin(next)}/`);
    }
    const dice = diceFor(mix(mix(plan.seed, of.index) ^ 0x3c6ef372, number));
    for (let n = 0; n < plan.crossLinks; n++) {
      const other = n % 2 === 0 ? of : site(dice(Math.ceil(plan.sites / 10)));
      const target = dice(Math.ceil(other.pages / 3)) * 3;
      if (target > 0 && target < other.pages && kindOf(other, target) !== 'private')
        hrefs.push(`${origin(other.index)}/p/${target}`);
    }
    return hrefs;
  };

  /**
   * An index names some sitemaps, each of which lists some pages; a packed file, so that only a sitemap is fetched from
   * there.
   */
  const sitemapAt = (site: string, path: string): ModelPage | null => {
    const pagesOf = (part: number): string[] =>
      Array.from({ length: PART_PAGES }, (_, n) => `${site}/only/${part * PART_PAGES + n}`);
    const part = /^part\/([0-2])\.gz$/.exec(path)?.[1];
    if (part !== undefined) return { kind: 'sitemap', target: '', hrefs: pagesOf(Number(part)) };
    if (path === INDEX_PATH)
      return {
        kind: 'sitemap',
        target: '',
        hrefs: [],
        sitemaps: Array.from({ length: PARTS }, (_, n) => `${site}/part/${n}.gz`),
      };
    const only = /^only\/(\d)$/.exec(path)?.[1];
    return only !== undefined && Number(only) < PARTS * PART_PAGES ? { kind: 'plain', target: '', hrefs: [] } : null;
  };

  const SIDE_FORM = /^(https:\/\/|http:\/\/(?:gone|down|odd|flap)\.)s\d+\.example(?:\/|$)/;
  const SIDE_PAGE = /\/side\/\d$/;
  const FORM = /^http:\/\/s(\d+)\.example\/(?:(p|r|private)\/(\d+))?$/;
  const SITEMAP_FORM = /^(http:\/\/s\d+\.example)\/(.+)$/;

  return {
    plan,
    seeds: Array.from({ length: Math.min(plan.seedSites, plan.sites) }, (_, i) => `${origin(i)}/`),
    site,
    siteNamed: (host) => site(Number(/s(\d+)\.example$/.exec(host)![1])),
    originHealth: (url) => ORIGINS[SIDE_FORM.exec(url)?.[1] ?? ''] ?? 'sound',
    page: (url) => {
      if (SIDE_FORM.test(url)) return SIDE_PAGE.test(url) ? { kind: 'plain', target: '', hrefs: [] } : null;
      const found = FORM.exec(url);
      if (!found) {
        const [, site, path] = (plan.sitemaps && SITEMAP_FORM.exec(url)) || [];
        return site !== undefined && path !== undefined ? sitemapAt(site, path) : null;
      }
      const of = site(Number(found[1]));
      const number = Number(found[3] ?? 0);
      if (number >= of.pages) return null;
      if (found[2] === 'r') return { kind: 'redirect', hrefs: [], target: `${origin(of.index)}/p/${number}` };
      const kind = found[2] === 'private' ? 'private' : kindOf(of, number);
      return { kind, target: '', hrefs: kind === 'plain' || kind === 'busy-once' ? linksOf(of, number) : [] };
    },
  };
};
