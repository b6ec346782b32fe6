/** The address of a store: the word for the one in a crawl's directory, or the URL of a server. */

export type StoreKind = 'sqlite' | 'redis' | 'postgres';

/** What stands for the store in the crawl's own directory. */
export const EMBEDDED = 'sqlite';

const KINDS: Readonly<Record<string, StoreKind>> = {
  'redis:': 'redis',
  'rediss:': 'redis',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

/** Null when the text names no store. */
export const storeKind = (text: string): StoreKind | null => {
  if (text === EMBEDDED) return 'sqlite';
  const url = parsed(text);
  return url === null || url.hostname === '' ? null : (KINDS[url.protocol] ?? null);
};

/** The kind of a store whose text was checked. */
export const kindOf = (text: string): StoreKind => {
  const kind = storeKind(text);
  if (kind === null) throw new Error('not the address of a store');
  return kind;
};

const parsed = (text: string): URL | null => {
  try {
    return new URL(text);
  } catch {
    return null;
  }
};

/** Names of parameters whose values are secrets: `password`, which PostgreSQL knows, and what others call theirs. */
const SECRET = /pass|pwd|secret|token/i;
const SECRET_PARAMETER = /([?&])[^?&=#]*(?:pass|pwd|secret|token)[^?&=#]*=[^&#]*/gi;

/** As it may be written down, or told: without a password, before the host and in the query. */
export const withoutPassword = (text: string): string => {
  const url = parsed(text);
  // What cannot be parsed is told in a message; with a bare / ? or # in its password, so is a part of that.
  if (url === null || `${url.pathname}${url.search}${url.hash}`.includes('@'))
    return text.replace(/:\/\/.*@/s, '://').replaceAll(SECRET_PARAMETER, '$1');
  const secrets = [...url.searchParams.keys()].filter((name) => SECRET.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  url.password = '';
  for (const name of secrets) url.searchParams.delete(name);
  return url.href;
};

/** Whether both are the same database of the same server, whoever asks for it. */
export const isSameStore = (a: string, b: string): boolean => bare(a) === bare(b);

const DEFAULT_PORTS: Readonly<Record<StoreKind, string>> = { sqlite: '', redis: '6379', postgres: '5432' };

const bare = (text: string): string => {
  const url = parsed(text);
  const kind = storeKind(text);
  if (url === null || kind === null) return text;
  const database = url.pathname.replace(/^\/$/, '');
  return `${kind}//${url.hostname}:${url.port || DEFAULT_PORTS[kind]}${kind === 'redis' && database === '/0' ? '' : database}`;
};

/** Whether several processes can work on a crawl in this store: it has members, leases that run out, and notes. */
export const isShared = (url: string): boolean => kindOf(url) !== 'sqlite';

/** Whether a crawl in this store can keep its waiting links in files. */
export const takesFrontierFiles = (url: string): boolean => kindOf(url) === 'redis';
