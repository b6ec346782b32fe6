/** All settings of a crawl in one table: flags, help, checks and the reference page come from it. */

import { TEXT_KINDS } from './body-types.ts';
import { SCOPE_KINDS } from './scope-kind.ts';
import type { Settings } from './settings.ts';

/**
 * Whom a setting belongs to. `crawl`: the same for all who take part in it, and changed for all at once through its
 * journal. `member`: each process has its own. `fixed`: chosen when the crawl begins.
 */
export type Whose = 'crawl' | 'member' | 'fixed';

/** How a setting is written: in a flag, in the help, in the reference page. */
export interface Spec {
  /** The name of the setting in a file, and of its flag without the dashes, if it has one. */
  readonly flag: string;
  readonly whose: Whose;
  /** `sites` is given in a file or to the library, and has no flag. */
  readonly kind:
    | 'count'
    | 'duration'
    | 'bytes'
    | 'switch'
    | 'text'
    | 'texts'
    | 'choice'
    | 'networks'
    | 'types'
    | 'sites';
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly fallback: string | number | boolean | null | readonly string[];
  readonly least?: number;
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly says: string;
}

export const SETTINGS: { readonly [K in keyof Settings]: Spec } = {
  email: {
    flag: 'email',
    whose: 'crawl',
    kind: 'text',
    value: 'ADDRESS',
    fallback: '',
    says: 'contact for site owners, in every request; required',
  },
  userAgent: {
    flag: 'user-agent',
    whose: 'crawl',
    kind: 'text',
    value: 'NAME',
    fallback: '',
    says: 'name, or whole header with a URL (default Gossamer)',
  },
  robotsToken: {
    flag: 'robots-token',
    whose: 'crawl',
    kind: 'text',
    value: 'NAME',
    fallback: '',
    says: 'name for robots.txt, if not the first of --user-agent',
  },
  acceptLanguage: {
    flag: 'accept-language',
    whose: 'crawl',
    kind: 'text',
    value: 'TEXT',
    fallback: '',
    says: 'languages to ask for, such as "de, en;q=0.8"',
  },
  headers: {
    flag: 'header',
    whose: 'crawl',
    kind: 'texts',
    value: "'NAME: VALUE'",
    fallback: [],
    says: 'one more header for every request; repeatable',
  },
  scope: {
    flag: 'scope',
    whose: 'crawl',
    kind: 'choice',
    value: SCOPE_KINDS.join('|'),
    fallback: 'any',
    choices: SCOPE_KINDS,
    says: 'around a seed, or anywhere',
  },
  include: {
    flag: 'include',
    whose: 'crawl',
    kind: 'texts',
    value: 'PATTERN',
    fallback: [],
    says: 'follow only such links: a site, a glob or a /regexp/',
  },
  exclude: {
    flag: 'exclude',
    whose: 'crawl',
    kind: 'texts',
    value: 'PATTERN',
    fallback: [],
    says: 'never follow such links: a site, a glob or a /regexp/',
  },
  maxPages: {
    flag: 'max-pages',
    whose: 'crawl',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    says: 'end after N pages, over the whole crawl',
  },
  maxDurationMs: {
    flag: 'max-duration',
    whose: 'member',
    kind: 'duration',
    value: 'TIME',
    fallback: null,
    least: 1,
    says: 'end this run within a second of TIME (90, 10m, 24h)',
  },
  maxDepth: {
    flag: 'max-depth',
    whose: 'crawl',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 0,
    says: 'follow links at most N steps from a seed',
  },
  maxPagesPerSite: {
    flag: 'max-pages-per-site',
    whose: 'crawl',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    says: 'pages of one site; its other links are held',
  },
  maxWaitingPerSite: {
    flag: 'max-waiting-per-site',
    whose: 'crawl',
    kind: 'count',
    value: 'N',
    fallback: 100_000,
    least: 1,
    says: 'links of one site that wait at a time; those over it are counted and forgotten',
  },
  sitemaps: {
    flag: 'sitemaps',
    whose: 'crawl',
    kind: 'switch',
    fallback: false,
    says: 'also read sitemaps: of robots.txt, and of the seeds',
  },
  delayMs: {
    flag: 'delay',
    whose: 'crawl',
    kind: 'duration',
    value: 'TIME',
    fallback: 5_000,
    least: 0,
    says: 'least time between two visits to a site',
  },
  troubleDelayMs: {
    flag: 'trouble-delay',
    whose: 'crawl',
    kind: 'duration',
    value: 'TIME',
    fallback: 10_000,
    least: 0,
    says: 'first wait after a failure; doubles with each, up to 1h, or 5m after a page',
  },
  parkAfter: {
    flag: 'park-after',
    whose: 'crawl',
    kind: 'count',
    value: 'N',
    fallback: 6,
    least: 1,
    says: 'failures in a row that park an origin; of pages alone, three times as many',
  },
  fetchers: {
    flag: 'fetchers',
    whose: 'member',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 1,
    most: 64,
    says: 'fetch threads (default by cores)',
  },
  parsers: {
    flag: 'parsers',
    whose: 'member',
    kind: 'count',
    value: 'N',
    fallback: null,
    least: 0,
    most: 256,
    says: 'parse threads, 0 for none (default by cores)',
  },
  concurrency: {
    flag: 'concurrency',
    whose: 'member',
    kind: 'count',
    value: 'N',
    fallback: 200,
    least: 1,
    most: 20_000,
    says: 'concurrent visits per fetch thread',
  },
  bodyBytesMax: {
    flag: 'body-max',
    whose: 'crawl',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 2 * 1024 ** 2,
    least: 1024,
    most: 256 * 1024 ** 2,
    says: 'a body is cut here and recorded as truncated',
  },
  bodyMemoryBytes: {
    flag: 'body-memory',
    whose: 'member',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 256 * 1024 ** 2,
    least: 1024 ** 2,
    says: 'what bodies under way may hold in memory together',
  },
  timeoutMs: {
    flag: 'timeout',
    whose: 'crawl',
    kind: 'duration',
    value: 'TIME',
    fallback: 30_000,
    least: 100,
    says: 'longest time for one request',
  },
  connectTo: {
    flag: 'connect-to',
    whose: 'member',
    kind: 'texts',
    value: 'HOST:PORT:ADDR:PORT',
    fallback: [],
    says: 'connect to ADDR:PORT instead of HOST:PORT, * for any; allows ADDR; repeatable',
  },
  nameServers: {
    flag: 'name-server',
    whose: 'member',
    kind: 'texts',
    value: 'ADDR[:PORT]',
    fallback: [],
    says: 'ask this name server instead of those of the system; repeatable',
  },
  allowPrivateAddresses: {
    flag: 'allow-private-addresses',
    whose: 'member',
    kind: 'networks',
    value: '[NETWORK,...]',
    fallback: false,
    says: 'also visit private, loopback and link-local addresses: all, or those of networks such as 10.1.0.0/16,fd00::/8',
  },
  verifyTls: {
    flag: 'verify-tls',
    whose: 'crawl',
    kind: 'switch',
    fallback: false,
    says: 'refuse certificates that cannot be verified',
  },
  types: {
    flag: 'types',
    whose: 'crawl',
    kind: 'types',
    value: 'NAME,...',
    fallback: TEXT_KINDS,
    says: 'bodies to archive: html,pdf,image ..., or all',
  },
  keep: {
    flag: 'keep',
    whose: 'crawl',
    kind: 'choice',
    value: 'all|text|none',
    fallback: 'all',
    choices: ['all', 'text', 'none'],
    says: 'what is archived',
  },
  keepLinks: {
    flag: 'keep-links',
    whose: 'crawl',
    kind: 'switch',
    fallback: false,
    says: 'also archive the links of each page, for "export --links"',
  },
  ledger: {
    flag: 'ledger',
    whose: 'crawl',
    kind: 'choice',
    value: 'on|off',
    fallback: 'on',
    choices: ['on', 'off'],
    says: 'note every request before it is sent, for "audit"',
  },
  metrics: {
    flag: 'metrics',
    whose: 'member',
    kind: 'text',
    value: '[HOST:]PORT',
    fallback: '',
    says: 'serve Prometheus metrics; on loopback without HOST',
  },
  logFile: {
    flag: 'log-file',
    whose: 'member',
    kind: 'text',
    value: 'FILE',
    fallback: '',
    says: 'the log, as JSON lines (default logs/gossamer.log in the directory)',
  },
  diskReserveBytes: {
    flag: 'disk-reserve',
    whose: 'member',
    kind: 'bytes',
    value: 'SIZE',
    fallback: 2 * 1024 ** 3,
    least: 0,
    says: 'stop when less than SIZE is free',
  },
  store: {
    flag: 'store',
    whose: 'fixed',
    kind: 'text',
    value: 'WHERE',
    fallback: 'sqlite',
    says: 'sqlite, redis://HOST or postgres://HOST/DB',
  },
  storeCa: {
    flag: 'store-ca',
    whose: 'member',
    kind: 'text',
    value: 'FILE',
    fallback: '',
    says: 'certificates that the store with TLS is checked by, instead of those of the system',
  },
  name: {
    flag: 'name',
    whose: 'fixed',
    kind: 'text',
    value: 'NAME',
    fallback: '',
    says: 'name of the crawl in Redis or PostgreSQL (default: that of its directory)',
  },
  frontier: {
    flag: 'frontier',
    whose: 'fixed',
    kind: 'choice',
    value: 'store|files',
    fallback: 'store',
    choices: ['store', 'files'],
    says: 'where the waiting links of a crawl in Redis lie: in it, or in files of this machine',
  },
  hooks: {
    flag: 'hooks',
    whose: 'member',
    kind: 'text',
    value: 'MODULE',
    fallback: '',
    says: 'your own module: accept(link) decides, extract(page) adds',
  },
  sites: {
    flag: 'sites',
    whose: 'crawl',
    kind: 'sites',
    fallback: [],
    says: 'rules per site: what differs for a domain or a host and all below it',
  },
};

/** Whether a setting can be given on the command line. */
export const hasFlag = (name: SettingName): boolean => SETTINGS[name].kind !== 'sites';

export type SettingName = keyof Settings;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Settings that are the same for all who take part in a crawl. */
export const CRAWL_SETTINGS: readonly SettingName[] = SETTING_NAMES.filter((name) => SETTINGS[name].whose === 'crawl');
