/** The links of a shaped page: the way to every page of its site, its navigation, and others near and far. */

import { articleKey, articleTree, articleUrl } from './articles.ts';
import type { WorldPlan } from './plan.ts';
import { FORBIDDEN_PATH } from './policy.ts';
import { titleFor } from './prose.ts';
import { diceFor } from './random.ts';
import type { PageShape } from './shape.ts';
import { anchor, type HrefLink } from './sheet.ts';
import { originOf, type Site } from './sites.ts';

/** One link of so many leads where robots.txt forbids it: 6 % of what Common Crawl asks for is denied. */
const FORBIDDEN_EVERY = 40;
/** One of so many that are not repeated leads to another site. */
const AWAY_EVERY = 3;

export const shapedLinks = (
  plan: WorldPlan,
  { navigation, repeated }: PageShape,
  at: { readonly sites: readonly Site[]; readonly site: Site; readonly number: number; readonly count: number },
): HrefLink[] => {
  const { sites, site, number, count } = at;
  const dice = diceFor(articleKey(plan, site, number) ^ 0x2545f491);
  const own = originOf(site);
  const to = (target: Site, n: number): HrefLink => {
    const url = articleUrl(plan, target, n);
    const written = url.startsWith(`${own}/`) && number % 5 !== 4 ? url.slice(own.length) : url;
    return anchor(url, titleFor(articleKey(plan, target, n)), written);
  };
  const links = articleTree(site, number).map((n) => to(site, n));
  for (let n = 1; n <= navigation && n < site.pages; n++) links.push(to(site, n));
  const distinct = links.length + Math.round(Math.max(0, count - links.length) * (1 - repeated));
  while (links.length < distinct) {
    if (dice(FORBIDDEN_EVERY) === 0) {
      const url = `${own}${FORBIDDEN_PATH}-${dice(1e6)}`;
      links.push(anchor(url, 'a page for members only', url));
      continue;
    }
    // The lower of two draws: some sites, and some pages of a site, are linked far more often than others.
    const target = dice(AWAY_EVERY) === 0 ? (sites[Math.min(dice(sites.length), dice(sites.length))] as Site) : site;
    links.push(to(target, dice(target.pages)));
  }
  while (links.length < count) links.push(links[dice(distinct)] as HrefLink);
  return links;
};
