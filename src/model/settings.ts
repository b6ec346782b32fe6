/** What a crawl can be told; how each setting is written is in setting-table.ts. */

import type { SiteRule } from './site-rules.ts';
import type { ScopeKind } from './scope-kind.ts';

export type Keep = 'all' | 'text' | 'none';
/** Where the waiting links of a crawl in Redis lie. */
export type FrontierPlace = 'store' | 'files';

/** Whether every HTTP request is noted for `gossamer audit` before it is sent. */
export type LedgerUse = 'on' | 'off';

export interface Settings {
  /** An address where site owners reach you; every request carries it. Required. */
  readonly email: string;
  /** A name, or a whole User-Agent with a URL in it. Default: `Gossamer` and its version. */
  readonly userAgent: string;
  /** How far from a seed links are followed: its page, folder, host or site, or anywhere. Default `any`. */
  readonly scope: ScopeKind;
  /** Follow only links that match one of these: sites, globs or `/regexps/`. Default `[]`: all. */
  readonly include: readonly string[];
  /** Never follow links that match one of these: sites, globs or `/regexps/`. Default `[]`. */
  readonly exclude: readonly string[];
  /** The name that robots.txt files know you by. Default: the first name of `userAgent`. */
  readonly robotsToken: string;
  /** Languages to ask for, such as `de, en;q=0.8`. Default: none. */
  readonly acceptLanguage: string;
  /** More headers for every request, each as `Name: value`. Default `[]`. */
  readonly headers: readonly string[];
  /** End after so many pages, over the whole crawl. Default `null`: no limit. */
  readonly maxPages: number | null;
  /** End this run after so many milliseconds. Default `null`: no limit. */
  readonly maxDurationMs: number | null;
  /** Follow links at most so many steps from a seed. Default `null`: no limit. */
  readonly maxDepth: number | null;
  /** Pages of one site; its other links are held. Default `null`: no limit. */
  readonly maxPagesPerSite: number | null;
  /**
   * Links of one site that wait at a time; those over it are counted and forgotten. Default `100_000`; `null` for no
   * limit.
   */
  readonly maxWaitingPerSite: number | null;
  /** Also read sitemaps: of robots.txt, and of the seeds. Default `false`. */
  readonly sitemaps: boolean;
  /** Least time between two visits to a site, in milliseconds. Default `5_000`. */
  readonly delayMs: number;
  /**
   * First wait after a failure, in milliseconds; doubles with each, up to an hour, or five minutes after a page.
   * Default `10_000`.
   */
  readonly troubleDelayMs: number;
  /** Failures in a row that park an origin; of pages alone, three times as many. Default `6`. */
  readonly parkAfter: number;
  /** Fetch threads. Default: one for every four cores, at least one. */
  readonly fetchers: number;
  /** Parse threads; 0 parses in the fetch threads. Default: one for every core. */
  readonly parsers: number;
  /** Concurrent visits of each fetch thread. Default `200`. */
  readonly concurrency: number;
  /** A body is cut here and recorded as truncated, in bytes. Default `2_097_152`, which is 2 MiB. */
  readonly bodyBytesMax: number;
  /** What bodies under way may hold in memory together, in bytes. Default `268_435_456`, which is 256 MiB. */
  readonly bodyMemoryBytes: number;
  /** Longest time for one request, in milliseconds. Default `30_000`. */
  readonly timeoutMs: number;
  /** Connect elsewhere: `HOST:PORT:ADDR:PORT` connects to ADDR:PORT instead of HOST:PORT, * for any. Default `[]`. */
  readonly connectTo: readonly string[];
  /** Name servers to ask instead of those of the system: `ADDR` or `ADDR:PORT`. Default `[]`. */
  readonly nameServers: readonly string[];
  /**
   * Also visit private, loopback and link-local addresses: all, or those of networks such as `10.1.0.0/16`. Default
   * `false`.
   */
  readonly allowPrivateAddresses: boolean | readonly string[];
  /** Refuse certificates that cannot be verified. Default `false`. */
  readonly verifyTls: boolean;
  /**
   * Which bodies are archived: names such as `html` and `pdf`, media types, or `all`. Default
   * `["html","text","xml","feed"]`.
   */
  readonly types: readonly string[];
  /** What is archived: all of a page, its text alone, or nothing. Default `all`. */
  readonly keep: Keep;
  /** Also archive the links of each page. Default `false`. */
  readonly keepLinks: boolean;
  /** Whether every request is noted before it is sent, for `gossamer audit`. Default `on`. */
  readonly ledger: LedgerUse;
  /** Where metrics are served for Prometheus: `PORT` on loopback, or `HOST:PORT`. Default: nowhere. */
  readonly metrics: string;
  /** The log, as JSON lines. Default: `logs/gossamer.log` in the directory of the crawl. */
  readonly logFile: string;
  /** Stop when less than this is free on the disk, in bytes. Default `2_147_483_648`, which is 2 GiB. */
  readonly diskReserveBytes: number;
  /** Path or URL of a module of your own that runs in the threads of the crawl. Default: none. */
  readonly hooks: string;
  /** Where links wait: `sqlite` (in the directory), `redis://HOST` or `postgres://HOST/DB`. Default `sqlite`. */
  readonly store: string;
  /** File of certificates that a store with TLS is checked by. Default: those of the system. */
  readonly storeCa: string;
  /** Name of the crawl in Redis or PostgreSQL. Default: that of its directory. */
  readonly name: string;
  /** Where the waiting links of a crawl in Redis lie: in it, or in files of this machine. Default `store`. */
  readonly frontier: FrontierPlace;
  /** Rules per site: what differs for a domain or a host and all below it. Default `[]`. */
  readonly sites: readonly SiteRule[];
}

/**
 * Threads for a machine: the best of all counts on 2 cores (docs/benchmarks.md). Parsing and packing a page costs three
 * times what fetching it does, and parse threads also fill the time that the store waits for its disk.
 */
export const defaultThreads = (cores: number): { fetchers: number; parsers: number } => ({
  fetchers: Math.max(1, Math.round(cores / 4)),
  parsers: Math.max(1, cores),
});

/** Sockets of a fetch thread: one per visit, and some for connections kept until the site's next visit. */
export const socketsMaxOf = ({ concurrency }: Pick<Settings, 'concurrency'>): number => Math.ceil(concurrency * 1.25);
