/** A crawl on disk that no web was needed for: the real store and the real archive, filled with made pages. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive } from '../../src/archive/files.ts';
import { payloadDigest, recordGroup, warcinfoRecord } from '../../src/archive/records.ts';
import { writeIdentity } from '../../src/folder/folder.ts';
import { createClock } from '../../src/lib/clock.ts';
import type { Answered } from '../../src/model/exchange.ts';
import type { CanonicalUrl, Link } from '../../src/model/link.ts';
import { completeSettings } from '../../src/model/read-settings.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Keep } from '../../src/model/settings.ts';
import type { Visit } from '../../src/model/visit.ts';
import { openSqlite, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { ALL_SHARDS } from '../contract/store-scene.ts';

export interface MadePlan {
  readonly dir: string;
  readonly sites: number;
  /** Links that are settled, and links that still wait. */
  readonly pages: number;
  readonly waiting: number;
  readonly keep: Keep;
  readonly fileBytesMax: number;
  /** The end of every body, for records that are large enough to be packed. */
  readonly pad?: string;
  /** Links of every page, as kept with `--keep-links`. */
  readonly links?: number;
}

const AT = Date.UTC(2026, 0, 1);
const BATCH = 1_000;
/** One page in so many has no response, one had its robots.txt fetched first, one has an empty body. */
const REFUSED_EVERY = 17;
const ROBOTS_EVERY = 5;
const EMPTY_EVERY = 11;

const linkOf = (n: number, sites: number): Link => ({
  url: `http://s${n % sites}.example/page/${n}` as CanonicalUrl,
  site: `s${n % sites}.example`,
  depth: 1,
  via: n < sites ? '' : `http://s${n % sites}.example/`,
  hops: 0,
  fallback: false,
  first: false,
});

export const makeCrawl = async (plan: MadePlan): Promise<void> => {
  const { dir, sites, pages, waiting, keep } = plan;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'seeds.txt'), Array.from({ length: 10 }, (_, n) => `s${n}.example\n`).join(''));
  writeIdentity(dir, completeSettings({ email: 'test@example.org', keep, keepLinks: plan.links !== undefined }, 2));
  const store = openMade(plan);
  await store.steer([{ kind: 'mark', name: 'seeds', value: 10 }]);
  for (let from = 0; from < pages; from += BATCH) {
    await store.admit(Array.from({ length: Math.min(BATCH, pages - from) }, (_, n) => linkOf(from + n, sites)));
    await settleAll(store, keep, plan);
  }
  await store.admit(Array.from({ length: waiting }, (_, n) => linkOf(pages + n, sites)));
  await store.close();
};

/** Opens a made crawl as a resume would. */
export const openMade = ({ dir, fileBytesMax }: Pick<MadePlan, 'dir' | 'fileBytesMax'>): SqliteStore =>
  openSqlite({
    path: join(dir, 'crawl.db'),
    clock: () => createClock(),
    archive: (settled) =>
      openArchive({
        dir: join(dir, 'warc'),
        settled,
        fileBytesMax,
        stamp: () => '20260101000000',
        warcinfo: (fileName) =>
          warcinfoRecord({
            fileName,
            at: AT,
            software: 'test',
            operator: 'test@example.org',
            userAgent: 'test',
            robots: 'classic',
            tlsVerification: 'none',
          }),
      }),
  });

/** Visits every link that waits. */
export const settleAll = async (store: SqliteStore, keep: Keep, more: MadeMore = {}): Promise<void> => {
  for (;;) {
    const { visits } = await store.claim({
      holder: 'test',
      shards: ALL_SHARDS,
      visits: BATCH,
      delayMs: 0,
      pagesMax: null,
      sitePagesMax: { all: null },
      leaseMs: null,
    });
    if (visits.length === 0) return;
    await store.settle(visits.map((visit) => settlementOf(visit, keep, more)));
  }
};

type MadeMore = Pick<MadePlan, 'pad' | 'links'>;

export const settlementOf = (visit: Visit, keep: Keep, { pad = '', links = 0 }: MadeMore = {}): Settlement => {
  const { link } = visit;
  const n = Number(link.url.split('/').at(-1));
  const page =
    n % REFUSED_EVERY === 1 ? null : exchangeOf(link.url, n % EMPTY_EVERY === 3 ? '' : `the body of ${link.url}${pad}`);
  const robots =
    n % ROBOTS_EVERY === 2 ? [exchangeOf(`${new URL(link.url).origin}/robots.txt`, 'User-agent: *\n')] : [];
  const digest = page && page.body.length > 0 ? payloadDigest(page.body) : '';
  return {
    site: visit.site,
    lease: visit.lease,
    fate: 'settled',
    parked: false,
    robots: null,
    records:
      keep === 'none' || (!page && robots.length === 0)
        ? null
        : recordGroup({
            robots,
            page,
            text: page && page.body.length > 0 ? `text of ${link.url}` : null,
            keep,
            links: { urls: Array.from({ length: links }, (_, i) => `${link.url}/${i}`), cut: 0 },
          }),
    pace: { ...visit.pace, dueAt: visit.pace.dueAt, delayMs: 0 },
    page: {
      url: link.url,
      site: link.site,
      outcome: page ? 'fetched' : 'robots-denied',
      status: page ? 200 : null,
      time: AT,
      duration_ms: 1,
      content_type: 'text/html',
      bytes: page?.body.length ?? 0,
      title: '',
      language: '',
      redirect: '',
      digest,
      truncated: '',
      noindex: false,
      depth: link.depth,
      via: link.via,
      tries: visit.tries,
      robots: '',
      detail: '',
      extracted: null,
      tls: '',
      charset: page ? 'utf-8' : '',
      charset_guessed: false,
    },
  };
};

const exchangeOf = (url: string, body: string): Answered => ({
  kind: 'answered',
  url,
  startedAt: AT,
  answeredAt: AT,
  endedAt: AT,
  address: '192.0.2.1',
  requestHead: 'GET / HTTP/1.1\r\n\r\n',
  head: `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`,
  status: 200,
  headers: { 'content-length': String(body.length) },
  body: new Uint8Array(Buffer.from(body)),
  truncated: null,
});
