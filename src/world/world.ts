/**
 * A small web, computed from its plan: nothing of it is stored but the names of its sites.
 *
 * | part | how it is |
 * | --- | --- |
 * | sites | a few hot, many small; some with several hosts, some under the private suffix `github.io` |
 * | seeds | every fourth site; the three after it are linked from its front page and nowhere else |
 * | articles | a tree from the front page, with cross links; two of three leaves have one in-link in all |
 * | traits | what is odd about a whole site: `traits.ts` |
 * | dead hosts | `old.` of some sites resets every connection, and one that speaks http alone is linked over https; these links stand before all others |
 * | curios | what is odd about a page: `/curios/<name>`, linked from the front page of some sites |
 *
 * `oddities()` lists traits and curios with a sentence each.
 */

import type { WorldPlan } from './plan.ts';
import type { Place } from './curio.ts';
import type { Policy } from './policy.ts';
import type { Response, HrefLink, Request, Sheet } from './sheet.ts';
import type { Site } from './sites.ts';
import type { Reachable } from './walk.ts';
import { articleKey, articleLinks, articleUrl, numberIn } from './articles.ts';
import { CURIOS_PATH } from './curio.ts';
import { curioNamed, curiosOf } from './oddities.ts';
import { htmlSheet } from './page.ts';
import { allowedBy, EXCEPTED_PATH, FORBIDDEN_PATH, GROUPS_PATHS, policyOf } from './policy.ts';
import { makeProse, titleFor } from './prose.ts';
import { diceFor } from './random.ts';
import { drawShape } from './shape.ts';
import { shapedLinks } from './shaped-links.ts';
import { createPageMaker } from './shaped-page.ts';
import { responseOf, anchor, brokenSheet, redirectTo, textSheet } from './sheet.ts';
import { makeSites, originOf, SEED_EVERY } from './sites.ts';
import { reachableFrom } from './walk.ts';

export interface World {
  readonly plan: WorldPlan;
  readonly sites: readonly Site[];
  /** Lines of a seed file, from which everything is reachable. */
  seeds(): string[];
  /** What the server will say. */
  responseTo(request: Request): Response;
  /** By the model's own walk: every URL that a right crawl fetches, and those it must not or cannot. */
  reachable(): Reachable;
  /** What the server will say, without the body. */
  look(request: Request): Sheet;
  siteOf(host: string): Site | null;
  /** Whether the TLS handshake for this host is reset. */
  refusesTls(host: string): boolean;
  /** The rules in force on a host; null for a host that is not of this world. */
  policy(host: string): Policy | null;
  /** Whether the rules in force allow this URL; false on an origin whose robots.txt never answers. */
  allows(url: URL): boolean;
  /** `away`: the robots.txt of another site, which it redirects to here. */
  robotsPath(host: string, path: string): 'own' | 'away' | null;
}

const MOVED_ROBOTS = '/rules/robots.txt';
const MOVED_AGAIN_ROBOTS = '/rules/current/robots.txt';
const AWAY_ROBOTS = /^\/policies\/([^/]+)\/robots\.txt$/;

const robotsSheet = (policy: Policy): Sheet => {
  const sheet = textSheet('text/plain; charset=utf-8', () => Buffer.from(policy.text));
  if (policy.status === 0) return brokenSheet('reset', sheet);
  return { ...sheet, status: policy.status, failing: policy.status >= 500 };
};

export const createWorld = (plan: WorldPlan): World => {
  const sites = makeSites(plan);
  const prose = makeProse(plan.seed);
  const maker = plan.shape === 'plain' ? null : createPageMaker(plan.shape, plan);
  const carriers = sites.filter((site) => site.ordinal >= 0).length;
  const byHost = new Map(
    sites.flatMap((site) =>
      [...site.hosts, ...(site.deadHost ? [site.deadHost] : [])].map((host) => [host, site] as const),
    ),
  );
  const hub = originOf(sites[0] as Site);

  const placeOf = (site: Site, name: string): Place => ({
    plan,
    prose,
    site,
    origin: originOf(site),
    home: `${originOf(site)}${CURIOS_PATH}${name}`,
    away: `${originOf(sites[(Math.ceil(sites.length / SEED_EVERY) - 1) * SEED_EVERY] as Site)}/`,
  });

  /** How a hidden site is linked from the front page of its seed. */
  const entryTo = (site: Site): string =>
    site.trait === 'upgrade' && site.scheme === 'https' ? `http://${site.hosts[0] as string}/` : `${originOf(site)}/`;

  const frontLinks = (site: Site): HrefLink[] => {
    const origin = originOf(site);
    const links: HrefLink[] = [];
    if (site.seeded) {
      for (const other of sites.slice(site.index + 1, site.index + SEED_EVERY))
        links.push(anchor(entryTo(other), other.name));
    }
    if (!plan.oddities) return links;
    const paths = [
      FORBIDDEN_PATH,
      EXCEPTED_PATH,
      ...(site.trait === 'robots-groups' ? GROUPS_PATHS.map(([path]) => path) : []),
    ];
    for (const path of paths) links.push(anchor(origin + path, `see ${path}`, path));
    for (const curio of curiosOf(site, carriers)) links.push(...curio.entries(placeOf(site, curio.name)));
    return links;
  };

  /** Links to origins of the site that never answer. */
  const deadLinks = ({ deadHost, scheme, hosts }: Site): HrefLink[] =>
    deadHost === ''
      ? []
      : [
          `http://${deadHost}/a`,
          `http://${deadHost}/b`,
          ...(scheme === 'http' && plan.https ? [`https://${hosts[0]}/only-http`] : []),
        ].map((url) => anchor(url, `formerly at ${url}`));

  const articleSheet = (site: Site, number: number): Sheet => {
    const key = articleKey(plan, site, number);
    if (maker) {
      const drawn = drawShape(maker.shape, key);
      const links = shapedLinks(plan, maker.shape, { sites, site, number, count: drawn.links });
      if (number === 0) links.push(...frontLinks(site));
      return maker.sheet({ key, title: titleFor(key), links, drawn });
    }
    const links = articleLinks(plan, sites, { site, number });
    if (number === 0) {
      links.unshift(...deadLinks(site));
      links.push(...frontLinks(site));
    }
    const bytes = plan.pageBytes * (0.5 + diceFor(key)(1_000) / 1_000);
    const sheet = htmlSheet({ key, title: titleFor(key), site: site.name, links, bytes }, prose);
    if (site.trait === 'slow') return { ...sheet, delivery: 'slow' };
    if (number > 0 && site.trait === 'garbage') return brokenSheet('garbage', sheet);
    if (number > 0 && site.trait === 'hang') return brokenSheet('hang', sheet);
    return sheet;
  };

  const notFound = (site: string): Sheet => ({
    ...htmlSheet({ key: 0, title: 'Nothing here', site, links: [], bytes: 0 }, prose),
    status: 404,
  });

  const robotsOf = (site: Site, { host, path }: Request): Sheet | null => {
    const policy = policyOf(plan, site, host);
    const origin = `${site.scheme}://${host}`;
    if (path === '/robots.txt') {
      if (site.trait === 'robots-moved') return redirectTo(origin + MOVED_ROBOTS, MOVED_ROBOTS);
      if (site.trait === 'robots-moved-away') return redirectTo(`${hub}/policies/${host}/robots.txt`);
      return robotsSheet(policy);
    }
    if (site.trait === 'robots-moved' && path === MOVED_ROBOTS) return redirectTo(origin + MOVED_AGAIN_ROBOTS);
    if (site.trait === 'robots-moved' && path === MOVED_AGAIN_ROBOTS) return robotsSheet(policy);
    const [, other = ''] = (site.index === 0 && AWAY_ROBOTS.exec(path)) || [];
    const asking = byHost.get(other);
    return asking?.trait === 'robots-moved-away' ? robotsSheet(policyOf(plan, asking, other)) : null;
  };

  const specialPage = (site: Site, path: string): Sheet | null => {
    if (!plan.oddities) return null;
    const special =
      path === FORBIDDEN_PATH ||
      path === EXCEPTED_PATH ||
      (site.trait === 'robots-groups' && GROUPS_PATHS.some(([known]) => known === path));
    if (special) return htmlSheet({ key: 1, title: `At ${path}`, site: site.name, links: [], bytes: 0 }, prose);
    const [, name = '', rest = ''] = /^\/curios\/([a-z0-9-]+)(.*)$/.exec(path) ?? [];
    const curio = curioNamed(name);
    return curio && curiosOf(site, carriers).includes(curio) ? curio.sheet(placeOf(site, name), rest) : null;
  };

  const look = (request: Request): Sheet => {
    const { scheme, host, path } = request;
    const site = byHost.get(host);
    if (!site) return notFound(host);
    if (site.trait === 'all-reset' || host === site.deadHost || (scheme === 'https' && refusesTls(host)))
      return brokenSheet('reset');
    if (scheme !== site.scheme) return redirectTo(`${site.scheme}://${host}${path}`);
    const robots = robotsOf(site, request);
    if (robots) return robots;
    const url = `${scheme}://${host}${path}`;
    const number = numberIn(path);
    if (number >= 0 && number < site.pages && articleUrl(plan, site, number) === url) return articleSheet(site, number);
    if (host !== site.hosts[0]) return path === '/' ? redirectTo(`${originOf(site)}/`) : notFound(site.name);
    return specialPage(site, path) ?? notFound(site.name);
  };

  const refusesTls = (host: string): boolean => {
    const site = byHost.get(host);
    return site !== undefined && (site.scheme === 'http' || site.trait === 'tls-refused');
  };

  const policyAt = (host: string): Policy | null => {
    const site = byHost.get(host);
    return site ? policyOf(plan, site, host) : null;
  };

  /** A full URL, or a bare domain, for which a crawler tries https first. */
  const seedLine = (site: Site): string => {
    const ordinal = site.index / SEED_EVERY;
    return plan.oddities && plan.https && ordinal % 3 !== 0 ? site.name : `${originOf(site)}/`;
  };

  let walked: Reachable | null = null;
  const world: World = {
    plan,
    sites,
    seeds: () => sites.filter((site) => site.seeded).map(seedLine),
    responseTo: (request) => responseOf(look(request)),
    reachable: () => (walked ??= reachableFrom(world)),
    look,
    siteOf: (host) => byHost.get(host) ?? null,
    refusesTls,
    policy: policyAt,
    allows: (url) => {
      const policy = policyAt(url.host);
      return policy === null || allowedBy(policy, url.pathname + url.search);
    },
    robotsPath: (host, path) => {
      const site = byHost.get(host);
      if (path === '/robots.txt') return 'own';
      if (site?.trait === 'robots-moved' && (path === MOVED_ROBOTS || path === MOVED_AGAIN_ROBOTS)) return 'own';
      return site?.index === 0 && AWAY_ROBOTS.test(path) ? 'away' : null;
    },
  };
  return world;
};
