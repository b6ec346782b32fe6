/**
 * Reads archived pages once more, because the scope has become wider: links that it refused when the pages were fetched
 * were counted and forgotten.
 *
 * It goes on beside the crawl, in the order of the rows, with a mark for how far it is. A crash repeats some pages,
 * whose links the store has seen by then.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readFields } from '../archive/head.ts';
import { readRecords, splitHttp } from '../archive/reader.ts';
import type { Store } from '../contract/store.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { FILES, keepIdentity, readIdentity } from '../folder/folder.ts';
import { homesNow } from '../folder/home-notes.ts';
import { scopeNameIn } from '../folder/scope-name.ts';
import { excludedSites } from '../folder/seeds.ts';
import { createClock, anchorNow } from '../lib/clock.ts';
import { plural, writeCount } from '../lib/units.ts';
import type { Link } from '../model/link.ts';
import { isArchived, type PageRow, type WarcPlace } from '../model/page.ts';
import type { Settings } from '../model/settings.ts';
import type { Log } from '../observe/log.ts';
import { parsePage } from '../parse/page.ts';
import { canonicalize } from '../url/canonical.ts';
import { scopeOf } from '../url/scope-of.ts';
import type { StorePlace } from '../store/options.ts';
import { createRouter, type Router } from '../visit/router.ts';
import { lookBeside } from './look-beside.ts';
import { productTokenOf } from './user-agent.ts';

/** Rows between two marks. */
const ROWS_AT_ONCE = 200;

export interface RereadParts {
  readonly dir: string;
  readonly member?: string | undefined;
  readonly settings: Settings;
  readonly store: Pick<Store, 'admit' | 'steer' | 'census'>;
  readonly crawl: StoredCrawl;
  readonly stop: AbortSignal;
  readonly log: Log;
}

export interface Rereading {
  /** Rows that were looked at, of all there were when it began. */
  readonly done: number;
  readonly total: number;
}

/** What became of the pages that were to be read again. */
export interface Reread {
  read: number;
  found: number;
  /** Pages whose records are not in this directory. */
  elsewhere: number;
  /** Pages that were archived without their HTML, or not at all. */
  unkept: number;
}

/** Resolves when all pages are read, when `stop` came first (the next run goes on), or at once if it is not due. */
export const rereadIfDue = async (
  { place, ...parts }: Omit<RereadParts, 'crawl'> & { readonly place: StorePlace },
  onProgress: (rereading: Rereading | null) => void,
): Promise<Reread | null> => {
  const { dir, settings, log } = parts;
  if (readIdentity(dir).widened !== true) return null;
  if (settings.hooks !== '') {
    log(
      'warn',
      'the scope is wider, but archived pages are not read again in a crawl with --hooks: links that were not taken when they were fetched stay unknown',
    );
    return null;
  }
  const figures = await lookBeside({ store: place, log }, (crawl) => reread({ ...parts, crawl }, onProgress));
  onProgress(null);
  return figures;
};

/**
 * The store went back in time while this member was not there, and may have forgotten links of pages that it settled
 * since that moment: they are read again. True when all of them were.
 */
export const rereadForgotten = async (
  { place, since, ...parts }: Omit<RereadParts, 'crawl'> & { readonly place: StorePlace; readonly since: number },
  onProgress: (rereading: Rereading | null) => void,
): Promise<boolean> => {
  const { settings, log } = parts;
  if (settings.hooks !== '') {
    log(
      'warn',
      'the store forgot links in a failover, but archived pages are not read again in a crawl with --hooks: some links may be lost until another page brings them',
    );
    return true;
  }
  const isDone = await lookBeside({ store: place, log }, (crawl) =>
    readAgainSince({ ...parts, crawl }, since, onProgress),
  );
  onProgress(null);
  return isDone ?? false;
};

/** Pages are settled some time after their request was sent, and not in the order of that: so much earlier ones too. */
const SETTLED_WITHIN_MS = 600_000;

const readAgainSince = async (
  parts: RereadParts,
  since: number,
  onProgress: (rereading: Rereading) => void,
): Promise<boolean> => {
  const { crawl, log } = parts;
  const { end } = await crawl.pagesAfter(0, { limit: 0 });
  const first = await rowBefore(crawl, since - SETTLED_WITHIN_MS, end);
  const figures: Reread = { read: 0, found: 0, elsewhere: 0, unkept: 0 };
  for await (const row of readRows(parts, { from: first, end, figures }))
    onProgress({ done: row - first, total: end - first });
  if (parts.stop.aborted) return false;
  const { read, found } = figures;
  log('info', `the store went back in time: ${plural(read, 'page')} read again, ${plural(found, 'link')} found again`, {
    read,
    found,
  });
  return true;
};

/** A row after which all pages are that were requested since that moment, found by halving. */
const rowBefore = async (crawl: StoredCrawl, since: number, end: number): Promise<number> => {
  let [before, after] = [0, end];
  while (after - before > ROWS_AT_ONCE) {
    const middle = Math.floor((before + after) / 2);
    const [page] = (await crawl.pagesAfter(middle, { limit: 1 })).pages;
    if (!page || page.time >= since) after = middle;
    else before = middle;
  }
  return before;
};

/**
 * Admits the links of the pages in these rows. Gives the row that it has come to, after some of them and at the end;
 * ends early when it is stopped.
 */
async function* readRows(
  parts: RereadParts,
  { from, end, figures }: { readonly from: number; readonly end: number; readonly figures: Reread },
): AsyncGenerator<number, void, undefined> {
  const { settings, store, crawl, stop } = parts;
  const router = await openRouter(parts);
  for (let row = from; row < end; yield row) {
    const slice = await crawl.pagesAfter(row, { limit: ROWS_AT_ONCE });
    for (const page of slice.pages) {
      if (stop.aborted) return;
      const links = await linksOf(parts, { router, page, figures });
      if (links.length > 0) figures.found += (await store.admit(links, settings.maxWaitingPerSite)).admitted;
      await new Promise((resolve) => setImmediate(resolve)); // a page takes milliseconds, and others wait
    }
    row = slice.row;
  }
}

const reread = async (parts: RereadParts, onProgress: (rereading: Rereading) => void): Promise<Reread> => {
  const { dir, member, settings, store, crawl, stop, log } = parts;
  const scope = scopeNameIn(dir, settings);
  const mark = `reread:${scope}${member === undefined ? '' : `:${member}`}`;
  const { end } = await crawl.pagesAfter(0, { limit: 0 });
  const figures: Reread = { read: 0, found: 0, elsewhere: 0, unkept: 0 };
  const from = (await store.census()).marks[mark] ?? 0;
  onProgress({ done: from, total: end });
  for await (const row of readRows(parts, { from, end, figures })) {
    await store.steer([{ kind: 'mark', name: mark, value: row }]);
    onProgress({ done: row, total: end });
  }
  if (stop.aborted) return figures;
  onProgress({ done: end, total: end });
  const { widened: _, ...identity } = readIdentity(dir);
  // Where the scope has changed meanwhile, they are read once more.
  if (scopeNameIn(dir, identity.settings) === scope) keepIdentity(dir, identity);
  tell(log, figures);
  return figures;
};

const openRouter = async ({ dir, settings, crawl }: RereadParts): Promise<Router> => {
  const homes = await homesNow(dir, settings, crawl);
  const scope = scopeOf(settings, homes && (() => homes), excludedSites(dir));
  const recent = { has: () => false };
  return createRouter({ clock: createClock(anchorNow(0)), scope, recent, accept: null });
};

/** The links of a page that are wanted; the store knows which of them are new. */
const linksOf = async (
  { dir, settings }: RereadParts,
  { router, page, figures }: { router: Router; page: PageRow; figures: Reread },
): Promise<Link[]> => {
  const { url, site, depth, via } = page;
  const link: Link = { url, site, depth, via, hops: 0, fallback: false, first: false };
  if (page.outcome === 'redirected') {
    const to = canonicalize(page.redirect);
    const target = typeof to === 'object' ? router.redirect(link, to) : null;
    return target ? [target] : [];
  }
  if (page.outcome !== 'fetched') return [];
  const response = isArchived(page) ? responseAt(dir, page) : null;
  if (response === 'elsewhere') figures.elsewhere++;
  if (response === null) figures.unkept++;
  if (response === null || response === 'elsewhere') return [];
  figures.read++;
  const { findings } = parsePage({
    url,
    headers: readFields(response.head),
    body: response.body,
    textBytesMax: settings.bodyBytesMax,
    productToken: productTokenOf(settings),
    text: false,
  });
  return (await router.route(link, findings)) ?? [];
};

const responseAt = (dir: string, place: WarcPlace): { head: string; body: Buffer } | 'elsewhere' | null => {
  const path = join(dir, FILES.warc, place.warc_file);
  if (!existsSync(path)) return 'elsewhere';
  for (const { headers, block } of readRecords(path, place.warc_offset, place.warc_offset + place.warc_group_length))
    if (headers['warc-type'] === 'response') return splitHttp(block);
  return null;
};

const tell = (log: Log, { read, found, elsewhere, unkept }: Reread): void => {
  const again = `${plural(read, 'archived page was', 'archived pages were')} read again`;
  log('info', `the scope is wider: ${again}, and ${plural(found, 'link')} in them ${found === 1 ? 'is' : 'are'} new`, {
    read,
    found,
  });
  if (elsewhere > 0)
    log(
      'warn',
      `${plural(elsewhere, 'page is in a directory', 'pages are in directories')} of another process of this crawl: what they link to is found when that one resumes with the same scope`,
      { elsewhere },
    );
  if (unkept > 0)
    log(
      'warn',
      unkept === 1
        ? '1 page was archived without its HTML: links in it cannot be found again'
        : `${writeCount(unkept)} pages were archived without their HTML: links in them cannot be found again`,
      { unkept },
    );
};
