/** All settings of a crawl in one table: flags, help, checks and the reference page come from it. */

export type Keep = 'all' | 'text' | 'none';
/** Where the waiting links of a crawl in Redis lie. */
export type FrontierPlace = 'store' | 'files';

/** Whether every HTTP request is noted for `gossamer audit` before it is sent. */
export type LedgerUse = 'on' | 'off';

export interface Settings {
  /** An address where site owners reach you; every request carries it. Required. */
  readonly email: string;
  /** Product token that robots.txt files name, with a version if you like. Default: `Gossamer` and its version. */
  readonly userAgent: string;
  /** Stay on the sites of the seeds. Default `false`. */
  readonly seededOnly: boolean;
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
  /** Name of the crawl in Redis or PostgreSQL. Default: that of its directory. */
  readonly name: string;
  /** Where the waiting links of a crawl in Redis lie: in it, or in files of this machine. Default `store`. */
  readonly frontier: FrontierPlace;
}

/** How a setting is written: in a flag, in the help, in the reference page. */
export interface Spec {
  readonly flag: string;
  readonly kind: 'count' | 'duration' | 'bytes' | 'switch' | 'text' | 'texts' | 'choice' | 'networks';
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly fallback: string | number | boolean | null | readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly says: string;
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

export const SETTINGS: { readonly [K in keyof Settings]: Spec } = {
  email: {
    flag: 'email',
    kind: 'text',
    value: 'ADDRESS',
    fallback: '',
    says: 'contact for site owners, in every request; required',
  },
  userAgent: {
    flag: 'user-agent',
    kind: 'text',
    value: 'NAME',
    fallback: '',
    says: 'product token for robots.txt (default Gossamer)',
  },
  seededOnly: { flag: 'seeded-only', kind: 'switch', fallback: false, says: 'stay on the sites of the seeds' },
  maxPages: {
    flag: 'max-pages',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    says: 'end after N pages, over the whole crawl',
  },
  maxDurationMs: {
    flag: 'max-duration',
    kind: 'duration',
    value: 'TIME',
    fallback: null,
    least: 1,
    says: 'end this run within a second of TIME (90s, 10m, 24h)',
  },
  maxDepth: {
    flag: 'max-depth',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 0,
    says: 'follow links at most N steps from a seed',
  },
  maxPagesPerSite: {
    flag: 'max-pages-per-site',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    says: 'pages of one site; its other links are held',
  },
  maxWaitingPerSite: {
    flag: 'max-waiting-per-site',
    kind: 'count',
    value: 'N',
    fallback: 100_000,
    least: 1,
    says: 'links of one site that wait at a time; those over it are counted and forgotten',
  },
  sitemaps: {
    flag: 'sitemaps',
    kind: 'switch',
    fallback: false,
    says: 'also read sitemaps: of robots.txt, and of the seeds',
  },
  delayMs: {
    flag: 'delay',
    kind: 'duration',
    value: 'TIME',
    fallback: 5_000,
    least: 0,
    says: 'least time between two visits to a site',
  },
  troubleDelayMs: {
    flag: 'trouble-delay',
    kind: 'duration',
    value: 'TIME',
    fallback: 10_000,
    least: 0,
    says: 'first wait after a failure; doubles with each, up to 1h, or 5m after a page',
  },
  parkAfter: {
    flag: 'park-after',
    kind: 'count',
    value: 'N',
    fallback: 6,
    least: 1,
    says: 'failures in a row that park an origin; of pages alone, three times as many',
  },
  fetchers: {
    flag: 'fetchers',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    most: 64,
    says: 'fetch threads (default by cores)',
  },
  parsers: {
    flag: 'parsers',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 0,
    most: 256,
    says: 'parse threads, 0 for none (default by cores)',
  },
  concurrency: {
    flag: 'concurrency',
    kind: 'count',
    value: 'N',
    fallback: 200,
    least: 1,
    most: 20_000,
    says: 'concurrent visits per fetch thread',
  },
  bodyBytesMax: {
    flag: 'body-max',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 2 * 1024 ** 2,
    least: 1024,
    most: 256 * 1024 ** 2,
    says: 'a body is cut here and recorded as truncated',
  },
  bodyMemoryBytes: {
    flag: 'body-memory',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 256 * 1024 ** 2,
    least: 1024 ** 2,
    says: 'what bodies under way may hold in memory together',
  },
  timeoutMs: {
    flag: 'timeout',
    kind: 'duration',
    value: 'TIME',
    fallback: 30_000,
    least: 100,
    says: 'longest time for one request',
  },
  connectTo: {
    flag: 'connect-to',
    kind: 'texts',
    value: 'HOST:PORT:ADDR:PORT',
    fallback: [],
    says: 'connect to ADDR:PORT instead of HOST:PORT, * for any; allows ADDR; repeatable',
  },
  nameServers: {
    flag: 'name-server',
    kind: 'texts',
    value: 'ADDR[:PORT]',
    fallback: [],
    says: 'ask this name server instead of those of the system; repeatable',
  },
  allowPrivateAddresses: {
    flag: 'allow-private-addresses',
    kind: 'networks',
    value: '[NETWORK,...]',
    fallback: false,
    says: 'also visit private, loopback and link-local addresses: all, or those of networks such as 10.1.0.0/16,fd00::/8',
  },
  verifyTls: {
    flag: 'verify-tls',
    kind: 'switch',
    fallback: false,
    says: 'refuse certificates that cannot be verified',
  },
  keep: {
    flag: 'keep',
    kind: 'choice',
    value: 'all|text|none',
    fallback: 'all',
    choices: ['all', 'text', 'none'],
    says: 'what is archived',
  },
  keepLinks: {
    flag: 'keep-links',
    kind: 'switch',
    fallback: false,
    says: 'also archive the links of each page, for "export --links"',
  },
  ledger: {
    flag: 'ledger',
    kind: 'choice',
    value: 'on|off',
    fallback: 'on',
    choices: ['on', 'off'],
    says: 'note every request before it is sent, for "audit"',
  },
  metrics: {
    flag: 'metrics',
    kind: 'text',
    value: '[HOST:]PORT',
    fallback: '',
    says: 'serve metrics for Prometheus there; on loopback unless HOST is given',
  },
  logFile: {
    flag: 'log-file',
    kind: 'text',
    value: 'FILE',
    fallback: '',
    says: 'the log, as JSON lines (default logs/gossamer.log in the directory)',
  },
  diskReserveBytes: {
    flag: 'disk-reserve',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 2 * 1024 ** 3,
    least: 0,
    says: 'stop when less than SIZE is free',
  },
  store: {
    flag: 'store',
    kind: 'text',
    value: 'WHERE',
    fallback: 'sqlite',
    says: 'where links wait: sqlite (in the directory), redis://HOST or postgres://HOST/DB',
  },
  name: {
    flag: 'name',
    kind: 'text',
    value: 'NAME',
    fallback: '',
    says: 'name of the crawl in Redis or PostgreSQL (default: that of its directory)',
  },
  frontier: {
    flag: 'frontier',
    kind: 'choice',
    value: 'store|files',
    fallback: 'store',
    choices: ['store', 'files'],
    says: 'where the waiting links of a crawl in Redis lie: in it, or in files of this machine',
  },
  hooks: {
    flag: 'hooks',
    kind: 'text',
    value: 'MODULE',
    fallback: '',
    says: 'your own module: accept(link) decides, extract(page) adds',
  },
};

export type SettingName = keyof Settings;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
