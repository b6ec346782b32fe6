/** The crawlers that are compared, and how each is started for a broad crawl without a delay. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianEnv, debianProgram, type Source, type Sources } from './install.ts';

/** What every crawler is given. */
export interface Errand {
  readonly pages: number;
  readonly seedFile: string;
  readonly portal: string;
  /** An empty folder, gone afterwards. */
  readonly dir: string;
}

export interface Peer {
  readonly name: string;
  readonly source: keyof Sources | null;
  /** The name for readers, with the version. */
  title(sources: Sources): string;
  command(errand: Errand, sources: Sources): { readonly argv: string[]; readonly env?: Record<string, string> };
  /** What a reader of the figures should know: settings, storage. */
  readonly about: string;
  /** False: it knows no limit in pages, and is stopped when the web has seen enough. */
  readonly stops: boolean;
}

const CONCURRENCY = '100';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folderOf = (source: Source): string => (source.kind === 'here' ? source.folder : '');
const versionOf = (source: Source, name: string): string =>
  source.kind === 'here' ? (source.versions[name] ?? '') : '(missing)';

const gossamer: Peer = {
  name: 'gossamer',
  source: null,
  title: () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    return `Gossamer ${version}`;
  },
  command: ({ pages, seedFile, dir }) => ({
    argv: [
      process.execPath,
      join(ROOT, 'bin/gossamer.js'),
      'crawl',
      seedFile,
      ...['--email', 'bench@example.org', '--dir', join(dir, 'crawl'), '--delay', '0', '--concurrency', CONCURRENCY],
      ...['--max-pages', String(pages), '--allow-private-addresses'],
    ],
  }),
  about: 'Stores WARC files, a row about every link, and a ledger of all requests, on disk, as it does by default.',
  stops: true,
};

const crawlee = (kind: 'http' | 'cheerio', parts: Pick<Peer, 'title' | 'about'>): Peer => ({
  name: `crawlee-${kind}`,
  source: 'npm',
  command: ({ pages, seedFile, dir }, { npm }) => ({
    argv: [process.execPath, join(folderOf(npm), 'crawlee.mjs'), kind, seedFile, String(pages)],
    env: { CRAWLEE_STORAGE_DIR: join(dir, 'storage') },
  }),
  stops: true,
  ...parts,
});

const spider: Peer = {
  name: 'spider-rs',
  source: 'npm',
  title: ({ npm }) => `spider-rs ${versionOf(npm, '@spider-rs/spider-rs')} (npm)`,
  command: ({ pages, portal }, { npm }) => ({
    argv: [process.execPath, join(folderOf(npm), 'spider.mjs'), portal, String(pages)],
  }),
  about:
    'bench/peers/spider.mjs: `withRespectRobotsTxt`, `withExternalDomains` for all, `withBudget`; the package has no ' +
    'setting for concurrency. It starts at one URL, a page with a link to every seed, and asks for the robots.txt of ' +
    'that host only. Over https it refuses the self-signed certificate of the small web. Stores nothing.',
  stops: true,
};

const scrapy: Peer = {
  name: 'scrapy',
  source: 'scrapy',
  title: ({ scrapy }) => `Scrapy ${versionOf(scrapy, 'python3-scrapy')}`,
  command: ({ pages, seedFile }, { scrapy }) => ({
    argv: [
      debianProgram(folderOf(scrapy), 'python3'),
      ...['-m', 'scrapy', 'runspider', fileURLToPath(new URL('broad_spider.py', import.meta.url))],
      ...['-a', `seeds=${seedFile}`, '-s', `CLOSESPIDER_ITEMCOUNT=${pages}`],
    ],
    env: debianEnv(folderOf(scrapy)),
  }),
  about:
    'bench/peers/broad_spider.py: the settings that its manual advises for broad crawls, breadth first. Stores ' +
    'nothing. What is under way when it has its pages comes on top.',
  stops: true,
};

/** It would fetch all that a page needs. */
const NO_PAGES = ['css', 'gif', 'ico', 'jpg', 'js', 'png', 'svg', 'webp', 'woff'];

const httrack: Peer = {
  name: 'httrack',
  source: 'httrack',
  title: ({ httrack }) => `HTTrack ${versionOf(httrack, 'httrack')}`,
  command: ({ seedFile, dir }, { httrack }) => ({
    argv: [
      debianProgram(folderOf(httrack), 'httrack'),
      ...['--list', seedFile, '-O', join(dir, 'mirror'), '--go-everywhere', '--robots=2', `--sockets=${CONCURRENCY}`],
      ...['--disable-security-limits', '--max-rate=0', '--connection-per-second=0', '--quiet'],
      ...['--priority=1', ...NO_PAGES.map((ending) => `-*.${ending}*`)],
    ],
    env: debianEnv(folderOf(httrack)),
  }),
  about:
    'Stores a mirror of the pages on disk and a cache of them, as it does by default; told to leave out pictures, ' +
    'styles and scripts. It knows no limit in pages.',
  stops: false,
};

export const PEERS: readonly Peer[] = [
  gossamer,
  crawlee('http', {
    title: ({ npm }) =>
      `Crawlee ${versionOf(npm, '@crawlee/http')}, HttpCrawler + htmlparser2 ${versionOf(npm, 'htmlparser2')}`,
    about:
      'bench/peers/crawlee.mjs: `respectRobotsTxtFile`, 100 requests at a time from the start. Stores nothing: its ' +
      'queue is in memory only (`persistStorage: false`).',
  }),
  crawlee('cheerio', {
    title: ({ npm }) => `Crawlee ${versionOf(npm, '@crawlee/cheerio')}, CheerioCrawler`,
    about: 'The same with CheerioCrawler and its own `enqueueLinks`.',
  }),
  spider,
  scrapy,
  httrack,
];
