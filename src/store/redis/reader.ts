/** Reading for people: short reads, while the crawl runs or after. Page rows are those of this member. */

import type { LinkView, Reader } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { shardOf } from '../../url/shard.ts';
import { siteOf } from '../../url/site.ts';
import { census } from './census.ts';
import { whereIs } from './find-in-line.ts';
import type { Look } from './look.ts';
import { openLineReader } from './read-lines.ts';
import { openRowsReader } from './read-rows.ts';
import { siteNamed, sitesCount, sitesOf, toView, type Nearby } from './read-sites.ts';

export const readerOf = (look: Look, rowsPath: string): Reader => {
  const rows = openRowsReader(rowsPath);
  const lines = openLineReader(rowsPath);
  const nearby: Nearby = { rows, lines };
  return {
    census: async () => census({ wire: look.wire, shards: await look.shards(), end: rows.end() }),
    pages: (filter) => rows.pages(filter),
    pagesAfter: (row, filter) => rows.after(row, filter),
    lastRow: () => rows.last(),
    page: (url, site) => rows.page(url, site),
    isWaiting: async (url, site) => (await whereIs(look, lines, { url, site })).found !== null,
    link: (url, site) => linkOf(look, nearby, { url, site }),
    site: (name) => siteNamed(look, nearby, name),
    sites: (query) => sitesOf(look, nearby, query),
    sitesCount: (search) => sitesCount(look, search),
    robots: (origins) => robotsOf(look, origins),
    lastFailure: (site) => rows.lastFailure(site),
    close: () => {
      lines.close();
      rows.close(); // the connection is the crawl's
    },
  };
};

const linkOf = async (
  look: Look,
  nearby: Nearby,
  of: { readonly url: string; readonly site: string },
): Promise<LinkView> => {
  const page = nearby.rows.page(of.url, of.site);
  const where = await whereIs(look, nearby.lines, { ...of, blocksMax: page ? 0 : undefined });
  const site = where.view.length === 0 ? null : toView(where.view, nearby);
  const view = { page: null, open: null, site, lookedAt: where.lookedAt };
  // A row is written just before its settlement: until then the link is leased.
  if (where.leased?.link.url === of.url)
    return { ...view, state: 'leased', open: { ...where.leased, ahead: 0 }, lookedAt: 0 };
  if (page) return { ...view, state: 'settled', page };
  if (where.found)
    return {
      ...view,
      state: site?.state === 'parked' || site?.state === 'held' ? site.state : 'waiting',
      open: where.found,
    }; // also while another of its links is leased
  // What is known and nowhere else was settled by another member, whose rows are not at hand.
  return { ...view, state: where.isKnown && where.isSure ? 'settled' : 'unknown' };
};

const robotsOf = async ({ wire, shards }: Look, origins: readonly string[]): Promise<(RobotsRecord | null)[]> => {
  const count = await shards();
  const shardIn = (origin: string): number => shardOf(siteOf(new URL(origin).hostname), count);
  const texts = (await wire.all(
    origins.map((origin) => ({ name: 'rulesOf', shard: shardIn(origin), args: [origin] })),
  )) as (string | null)[];
  return texts.map((text) => (text === null ? null : (JSON.parse(text) as RobotsRecord)));
};
