/** The pieces of a crawl on its way from one place to another. */

import assert from 'node:assert/strict';

import { StoreFault } from '../../src/contract/fault.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { FoundSite, FoundTally, Piece, StoredPage, WalkPart } from '../../src/contract/walk.ts';
import { NO_PLACE } from '../../src/model/page.ts';
import type { Visit } from '../../src/model/visit.ts';
import { shardOf } from '../../src/url/shard.ts';
import { link, pageOf } from './store-scene.ts';
import { makeEverything, wholeOf, type Whole } from './stored-everything.ts';
import { foundIn, type StoredScene } from './stored-scene.ts';

export const MOVED: readonly WalkPart[] = ['sites', 'robots', 'pages', 'tally'];

export const isFault =
  (says: RegExp) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && says.test(error.message);

/** As a move takes them out of a crawl. */
export const piecesOf = async (crawl: StoredCrawl): Promise<Piece[]> =>
  (await foundIn(crawl, MOVED)).map((found) => {
    assert.ok(found.kind !== 'wrong' && found.kind !== 'broken' && found.kind !== 'seen');
    return found;
  });

/** Hands over that many pieces at a time. */
export const fillWith = async (crawl: StoredCrawl, pieces: readonly Piece[], atOnce = 7): Promise<void> => {
  const filling = await crawl.fill();
  for (let at = 0; at < pieces.length; at += atOnce) await filling.take(pieces.slice(at, at + atOnce));
  await filling.end();
};

export const wholeIn = async (crawl: StoredCrawl): Promise<Whole> => wholeOf(await foundIn(crawl, ['seen', ...MOVED]));

/** A crawl with some of everything, at rest. */
export const makeSource = async (scene: StoredScene): Promise<StoredCrawl> => {
  await makeEverything(scene);
  const crawl = await scene.look();
  await crawl.keepNote('identity', '{"ü":"🕸"}\n');
  await scene.stop();
  return crawl;
};

export const SITE: FoundSite = {
  kind: 'site',
  site: 'a.example',
  state: 'waiting',
  shard: shardOf('a.example'),
  waiting: 0,
  pages: 0,
  pace: { dueAt: 1, delayMs: 500, crawlDelayMs: 0, responseMs: 0, failures: 0 },
  leased: null,
};
/** The tally of a crawl that nobody worked on. */
export const TALLY: FoundTally = {
  kind: 'tally',
  forgotten: 0,
  archivedBytes: 0,
  archive: { file: '', bytes: 0 },
  marks: {},
  notes: {},
  journal: [],
  elsewhere: [],
  dead: [],
};

export const siteOf = (site: string, changes: Partial<FoundSite> = {}): FoundSite => ({
  ...SITE,
  site,
  shard: shardOf(site),
  ...changes,
});
export const queueOf = (site: string, ...paths: readonly string[]): Piece => ({
  kind: 'queue',
  site,
  links: paths.map((path) => ({ link: link(`${site}/${path}`), tries: 2 })),
});
export const pageAt = (address: string, row: number, changes: Partial<StoredPage> = {}): StoredPage => {
  const { url, site } = link(address);
  const visit = { site, link: link(address), claimedAt: 5, tries: 1 } as Visit;
  return { ...pageOf(visit, { url, site }), ...NO_PLACE, row, mine: true, ...changes } as StoredPage;
};
