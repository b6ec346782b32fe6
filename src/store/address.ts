/** The address of a store: the word for the one in a crawl's directory, or the URL of a server, with all its hosts. */

import { readFileSync } from 'node:fs';
import { StoreFault } from '../contract/fault.ts';

export type StoreKind = 'sqlite' | 'redis' | 'postgres';

/** What stands for the store in the crawl's own directory. */
export const EMBEDDED = 'sqlite';

const KINDS: Readonly<Record<string, StoreKind>> = {
  'redis:': 'redis',
  'rediss:': 'redis',
  'redis+sentinel:': 'redis',
  'rediss+sentinel:': 'redis',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

export interface HostAndPort {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

/** A URL of a store, taken apart. */
export interface StoreAddress {
  readonly kind: 'redis' | 'postgres';
  /** Redis with TLS; PostgreSQL says that in its parameters. */
  readonly isSecure: boolean;
  /** The hosts are Sentinels, which know the master of that name. */
  readonly master: string | null;
  readonly hosts: readonly HostAndPort[];
  /** What follows the hosts, and the name of the master. */
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly parameters: URLSearchParams;
}

const DEFAULT_PORTS = { redis: 6379, sentinel: 26_379, postgres: 5432 } as const;

/** Null when the text is no URL of a server's store. */
export const readAddress = (text: string): StoreAddress | null => {
  const [first, ...others] = parsed(text) ?? [];
  const kind = first && KINDS[first.protocol];
  if (!first || !kind || kind === 'sqlite' || first.hash !== '') return null;
  const isSentinel = first.protocol.endsWith('+sentinel:');
  const path = first.pathname.replace(/^\//, '').split('/').map(decoded);
  const master = isSentinel ? path.shift()! : null;
  // A bare @ after the host: its password has a bare / ? or # in it, and was cut short.
  if (master === '' || path.length > 1 || `${first.pathname}${first.search}`.includes('@')) return null;
  const port = DEFAULT_PORTS[isSentinel ? 'sentinel' : kind];
  const hosts = [first, ...others].map((url) => ({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || port),
  }));
  if (hosts.some(({ host }) => host === '')) return null;
  return {
    kind,
    isSecure: first.protocol.startsWith('rediss'),
    master,
    hosts,
    database: path[0] ?? '',
    user: decoded(first.username),
    password: decoded(first.password),
    parameters: first.searchParams,
  };
};

/** `host:port,host:port`, for people. */
export const hostsText = ({ hosts }: Pick<StoreAddress, 'hosts'>): string =>
  hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');

/** Null when the text names no store. Whether all of an address is right is found, and said, when it is opened. */
export const storeKind = (text: string): StoreKind | null => {
  if (text === EMBEDDED) return 'sqlite';
  const urls = parsed(text);
  return urls === null || urls.some(({ hostname }) => hostname === '') ? null : (KINDS[urls[0].protocol] ?? null);
};

/** The kind of a store whose text was checked. */
export const kindOf = (text: string): StoreKind => {
  const kind = storeKind(text);
  if (kind === null) throw new Error('not the address of a store');
  return kind;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a % that means itself
  }
};

/** What stands before the hosts, the hosts with commas between them, and what follows. */
const PARTS = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/** A URL of each host that the text names, all else alike; null when one cannot be read. */
const parsed = (text: string): [URL, ...URL[]] | null => {
  const [, before, hosts, after] = PARTS.exec(text) ?? [];
  if (hosts === undefined) return null;
  const urls = hosts.split(',').map((host) => URL.parse(`${before}${host}${after}`));
  return urls.every((url) => url !== null) ? (urls as [URL, ...URL[]]) : null;
};

/** The address as it is for each of its hosts alone. */
export const hostUrls = (text: string): string[] => (parsed(text) ?? []).map(({ href }) => href);

/** Names of parameters whose values are secrets: `password`, which PostgreSQL knows, and what others call theirs. */
const SECRET = /pass|pwd|secret|token/i;
const SECRET_PARAMETER = /([?&])[^?&=#]*(?:pass|pwd|secret|token)[^?&=#]*=[^&#]*/gi;

/** As it may be written down, or told: without a password, before the host and in the query. */
export const withoutPassword = (text: string): string => {
  const urls = parsed(text);
  // What cannot be parsed is told in a message; with a bare / ? or # in its password, so is a part of that.
  if (urls === null || `${urls[0].pathname}${urls[0].search}${urls[0].hash}`.includes('@'))
    return text.replace(/:\/\/.*@/s, '://').replaceAll(SECRET_PARAMETER, '$1');
  const [url] = urls;
  const secrets = [...url.searchParams.keys()].filter((name) => SECRET.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  for (const name of secrets) url.searchParams.delete(name);
  return written(urls);
};

/** Without a password. */
const written = (urls: readonly [URL, ...URL[]]): string => {
  const [{ protocol, username, pathname, search, hash }] = urls;
  const hosts = urls.map(({ host }) => host).join(',');
  return `${protocol}//${username === '' ? '' : `${username}@`}${hosts}${pathname}${search}${hash}`;
};

/** The parameter that names the file of a certificate authority of one's own, as PostgreSQL calls it. */
export const CA_PARAMETER = 'sslrootcert';

/** The address with this file in it, unless it names another one or the store has no TLS. */
export const withCa = (text: string, file: string | undefined): string => {
  const address = file ? readAddress(text) : null;
  if (address === null || !takesCa(text) || address.parameters.has(CA_PARAMETER)) return text;
  return `${text}${text.includes('?') ? '&' : '?'}${CA_PARAMETER}=${encodeURIComponent(file!)}`;
};

/** What TLS trusts instead of the system's authorities, where the address names a file. */
export const caOf = ({ parameters }: Pick<StoreAddress, 'parameters'>): { ca?: string } => {
  const file = parameters.get(CA_PARAMETER);
  if (!file) return {};
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new StoreFault(
      `the certificates for the store cannot be read: ${(error as Error).message}`,
      `look at --store-ca, and at ${CA_PARAMETER} in the address of the store`,
    );
  }
};

/** Whether a certificate authority of one's own means something to this store. */
export const takesCa = (text: string): boolean => {
  const address = readAddress(text);
  return address === null || address.kind === 'postgres' || address.isSecure;
};

/**
 * Whether both are the same database of the same server, whoever asks for it. Of several hosts one in common is enough:
 * a node, a standby or a Sentinel may have come or gone.
 */
export const isSameStore = (a: string, b: string): boolean => {
  const [one, other] = [readAddress(a), readAddress(b)];
  if (one === null || other === null) return a === b;
  if (one.kind !== other.kind || one.master !== other.master || placeIn(one) !== placeIn(other)) return false;
  const there = new Set(other.hosts.map((host) => hostsText({ hosts: [host] })));
  return one.hosts.some((host) => there.has(hostsText({ hosts: [host] })));
};

const placeIn = ({ kind, database }: StoreAddress): string => (kind === 'redis' && database === '0' ? '' : database);

/** Whether several processes can work on a crawl in this store: it has members, leases that run out, and notes. */
export const isShared = (url: string): boolean => kindOf(url) !== 'sqlite';

/** Whether a crawl in this store can keep its waiting links in files. */
export const takesFrontierFiles = (url: string): boolean => kindOf(url) === 'redis';

/** Whether each member keeps the rows of its pages in its own directory, and not in the store. */
export const keepsRowsByMember = (url: string): boolean => kindOf(url) === 'redis';
