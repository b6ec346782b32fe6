/** The ordinary pages of a site: a tree with cross links, every one computed from its number. */

import type { Site } from './sites.ts';
import { originOf, SEED_EVERY } from './sites.ts';
import type { WorldPlan } from './plan.ts';
import type { Dice } from './random.ts';
import { diceFor, mix, pick } from './random.ts';
import { NAMES, SECTIONS, titleFor } from './prose.ts';
import type { HrefLink } from './sheet.ts';
import { anchor, marked } from './sheet.ts';

/** Children of a page in the tree. Wide enough that 400 pages are three links from the front page. */
const CHILDREN = 8;
/** Only pages whose number is a multiple of this get cross links: a leaf that is none has one in-link in all. */
const CROSS_EVERY = 3;
/** A cross link for every so many bytes of page, on top of the first few: about 40 on a page of 60 KB. */
const BYTES_PER_CROSS_LINK = 2_000;
const CROSS_LINKS_LEAST = 4;

export const articleKey = (plan: WorldPlan, site: Site, number: number): number =>
  mix(mix(plan.seed, site.index), number);

export const articleUrl = (plan: WorldPlan, site: Site, number: number): string => {
  if (number === 0) return `${originOf(site)}/`;
  const key = articleKey(plan, site, number);
  // Some pages live on the last host, so that one site has several origins.
  const host = number % 5 === 4 ? site.hosts.length - 1 : 0;
  return `${originOf(site, host)}/${pick(SECTIONS, key)}/${pick(NAMES, key >>> 8)}-${number}`;
};

const ARTICLE_PATH = /^\/[a-z]+\/[a-z]+-(\d{1,9})$/;

/** The number in a path that looks like an article's, or -1. */
export const numberIn = (path: string): number => {
  if (path === '/') return 0;
  const found = ARTICLE_PATH.exec(path);
  return found ? Number(found[1]) : -1;
};

/** The numbers of an article's parent and children. */
export const articleTree = (site: Site, number: number): number[] => {
  const near = number > 0 ? [Math.floor((number - 1) / CHILDREN)] : [];
  const first = number * CHILDREN + 1;
  for (let child = first; child < first + CHILDREN && child < site.pages; child++) near.push(child);
  return near;
};

/** Up, down and across. `sites` are all sites of the world. */
export const articleLinks = (
  plan: WorldPlan,
  sites: readonly Site[],
  at: { site: Site; number: number },
): HrefLink[] => {
  const { site, number } = at;
  const links: HrefLink[] = [];
  const own = originOf(site);
  const to = (target: Site, n: number): HrefLink => {
    const url = articleUrl(plan, target, n);
    const near = target === site && number % 5 !== 4 && url.startsWith(`${own}/`);
    return anchor(url, titleFor(articleKey(plan, target, n)), near ? url.slice(own.length) : url);
  };
  for (const n of articleTree(site, number)) links.push(to(site, n));

  const dice = diceFor(articleKey(plan, site, number) ^ 0x5bd1e995);
  const count = CROSS_LINKS_LEAST + Math.floor(plan.pageBytes / BYTES_PER_CROSS_LINK);
  for (let n = 0; n < count; n++) {
    const target = n % 3 === 2 ? anySeeded(sites, dice) : site;
    const link = to(target, dice(Math.ceil(target.pages / CROSS_EVERY)) * CROSS_EVERY);
    links.push(n === 0 && plan.oddities ? oddlyWritten(link.to, dice) : link);
  }
  return links;
};

/** Only seeds are linked from everywhere: a hidden site that was lost must not be found on another way. */
const anySeeded = (sites: readonly Site[], dice: Dice): Site => {
  const seeds = Math.ceil(sites.length / SEED_EVERY);
  // The lower of two draws: some sites are linked far more often than others.
  return sites[Math.min(dice(seeds), dice(seeds)) * SEED_EVERY] as Site;
};

/** Other spellings of a URL; all of them have one canonical form. */
export const SPELLINGS: readonly ((url: URL) => string)[] = [
  (url) => `${url.href}#part-2`,
  (url) =>
    `${url.protocol.toUpperCase()}//${url.host.toUpperCase()}:${url.protocol === 'https:' ? 443 : 80}${url.pathname}`,
  (url) => `${url.origin}/./here/../.${url.pathname}`,
  (url) => `\n   ${url.href}\t `,
  (url) => `//${url.host}${url.pathname}#`,
  (url) => url.href.replaceAll('/', '&#47;'),
  (url) => `${url.origin}/%2e${url.pathname}`,
];

/** A scheme-relative spelling is right only on a page of the same scheme, so it is left out here. */
const ANYWHERE = SPELLINGS.filter((_, n) => n !== 4);

const oddlyWritten = (url: string, dice: Dice): HrefLink => {
  const written = (ANYWHERE[dice(ANYWHERE.length)] as (url: URL) => string)(new URL(url));
  return marked(url, `<a href="${written}">a link in odd spelling</a>`);
};
