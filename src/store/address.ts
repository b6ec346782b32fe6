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

/** As it may be written down. */
export const withoutPassword = (text: string): string => {
  const url = parsed(text);
  if (url === null || url.password === '') return text;
  url.password = '';
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
