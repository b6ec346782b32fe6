/** Reading for people: short reads, while the crawl runs or after. */

import type { LinkView, Reader } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { textsOf } from './book.ts';
import { census } from './census.ts';
import { findInLine } from './find-in-line.ts';
import { readLine } from './line.ts';
import { atOneMoment, rowsOn, type Look } from './look.ts';
import { createPageRows, lastFailureOf, pageOf, pagesOf } from './read-pages.ts';
import { sitesCount, siteNamed, sitesOf, type Rows } from './read-sites.ts';
import { keyOf } from './schema.ts';

export const readerOf = (look: Look): Reader => {
  const { rows, schema: s } = look;
  const pages = createPageRows(look);
  return {
    census: async () => censusOf(look, null),
    pages: (filter) => pagesOf(look, filter),
    pagesAfter: (row, filter) => pages.after(row, filter),
    lastRow: () => pages.last(),
    page: (url, site) => pageOf(rows, s, { url, site }),
    isWaiting: async (url, site) => (await findInLine(rows, s, { url, site })).found !== null,
    link: (url, site) =>
      atOneMoment(look, (client) => linkOf((text, values) => rowsOn(client, text, values), s, { url, site })),
    site: (name) => siteNamed(rows, s, name),
    sites: (query) => sitesOf(look, query),
    sitesCount: (search) => sitesCount(look, search),
    robots: (origins) => robotsOf(look, origins),
    lastFailure: (site) => lastFailureOf(look, site),
    close: () => {}, // the connections are the crawl's
  };
};

/** As the verb has it; of a member, or of nobody. */
export const censusOf = async ({ rows, schema, shards }: Look, member: string | null) =>
  census({
    member,
    shards: await shards(),
    at: () => null,
    call: (verb, values) =>
      rows(`SELECT * FROM ${schema}.${verb}(${values.map((_, i) => `$${i + 1}`).join(', ')})`, values),
  });

const linkOf = async (
  rows: Rows,
  s: string,
  { url, site }: { readonly url: string; readonly site: string },
): Promise<LinkView> => {
  const view = await siteNamed(rows, s, site);
  const page = view && (await pageOf(rows, s, { url, site }));
  if (!view || page) return { state: page ? 'settled' : 'unknown', page, open: null, site: view, lookedAt: 0 };
  if (view.leased === url) {
    const [row] = await rows<{ tries: number; leased: string; leased_via: string }>(
      `SELECT k.tries, k.leased, k.leased_via FROM ${s}.site k WHERE k.id = $1`,
      [keyOf(site)],
    );
    const { tries, leased, leased_via: via } = row!;
    return {
      state: 'leased',
      page: null,
      open: { link: readLine(leased, via, site), tries, ahead: 0 },
      site: view,
      lookedAt: 0,
    };
  }
  const { found, lookedAt } = await findInLine(rows, s, { url, site });
  // also while another of its links is leased
  const inLine = view.state === 'parked' || view.state === 'held' ? view.state : 'waiting';
  return { state: found ? inLine : 'unknown', page: null, open: found, site: view, lookedAt };
};

export interface RobotsRow {
  readonly origin: string;
  readonly fetched_at: number;
  readonly expires_at: number;
  readonly verdict: RobotsRecord['verdict'];
  readonly rules: string;
  readonly crawl_delay_ms: number | null;
}

export const ROBOTS_SELECT = 'r.origin, r.fetched_at, r.expires_at, r.verdict, r.rules, r.crawl_delay_ms';

export const toRobots = (row: RobotsRow): RobotsRecord => ({
  origin: row.origin,
  fetchedAt: row.fetched_at,
  expiresAt: row.expires_at,
  verdict: row.verdict,
  rules: row.rules,
  crawlDelayMs: row.crawl_delay_ms,
});

const robotsOf = async ({ rows, schema: s }: Look, origins: readonly string[]): Promise<(RobotsRecord | null)[]> => {
  const found = await rows<RobotsRow>(`SELECT ${ROBOTS_SELECT} FROM ${s}.robots r WHERE r.origin = ANY ($1::text[])`, [
    textsOf(origins),
  ]);
  const known = new Map(found.map((row) => [row.origin, toRobots(row)]));
  return origins.map((origin) => known.get(origin) ?? null);
};
