/**
 * What a crawl of a folder must find: all that links lead to, from a seed on, as far as a scope allows. Written without
 * a line of the crawler, so that both can be held against each other.
 */

import { readFileSync } from 'node:fs';
import { pageHrefs } from './page-hrefs.ts';
import { lookUp } from './web.ts';

export const SCOPES = ['path', 'host', 'site'] as const;
export type DocScope = (typeof SCOPES)[number];

export interface Expected {
  /** The address of each page, and the first link that leads there. */
  readonly pages: ReadonlyMap<string, Via>;
  /** Addresses with nothing there, although a link leads to them. */
  readonly broken: ReadonlyMap<string, Via>;
}

export interface Via {
  readonly page: string;
  readonly href: string;
}

/** No package has as many pages; a walk that goes on without end is a fault of its own. */
const ADDRESSES_MAX = 100_000;
export const walkWeb = (web: string, seed: string, scope: DocScope): Expected => {
  const pages = new Map<string, Via>();
  const broken = new Map<string, Via>();
  const isWanted = wantedBy(seed, scope);
  const known = new Set<string>();
  const queue: { url: URL; via: Via }[] = [];
  const add = (href: string, base: string, page: string): void => {
    const url = URL.parse(href, base);
    if (url === null || url.protocol !== 'http:' || !isWanted(url) || known.has(keyOf(url))) return;
    known.add(keyOf(url));
    queue.push({ url, via: { page, href } });
  };
  add(seed, seed, '');
  for (const { url, via } of queue) {
    if (queue.length > ADDRESSES_MAX) throw new Error(`${seed}: more than ${ADDRESSES_MAX} addresses`);
    const found = lookUp(web, url);
    if (found.kind === 'redirect') add(found.to, url.href, url.href);
    if (found.kind === 'nothing') broken.set(keyOf(url), via);
    if (found.kind !== 'page') continue;
    pages.set(keyOf(url), via);
    const { base, hrefs } = read(found.file);
    const from = base === null ? url.href : (URL.parse(base, url.href)?.href ?? url.href);
    for (const href of hrefs) add(href, from, url.href);
  }
  return { pages, broken };
};

/** One spelling of an address: without its fragment, and with escapes only where they are needed. */
export const keyOf = (url: URL): string => {
  const path = url.pathname.replace(/%[\da-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : triplet.toUpperCase();
  });
  return `${url.origin}${path}${url.search}`;
};

const wantedBy = (seed: string, scope: DocScope): ((url: URL) => boolean) => {
  const home = new URL(seed);
  const folder = home.pathname.slice(0, home.pathname.lastIndexOf('/') + 1);
  // All sites here are directly below `test`.
  const site = home.hostname.split('.').slice(-2).join('.');
  switch (scope) {
    case 'path':
      return (url) => url.host === home.host && url.pathname.startsWith(folder);
    case 'host':
      return (url) => url.host === home.host;
    case 'site':
      return (url) => url.hostname === site || url.hostname.endsWith(`.${site}`);
    default:
      return scope satisfies never;
  }
};

/** Manuals are walked in several scopes, and parsing is most of the work. */
const read = (file: string): ReturnType<typeof pageHrefs> => {
  const known = readFiles.get(file) ?? pageHrefs(readFileSync(file));
  readFiles.set(file, known);
  return known;
};
const readFiles = new Map<string, ReturnType<typeof pageHrefs>>();
