/**
 * Where the seeds are at home: the part of the web that a crawl with a scope stays in.
 *
 * A home is a site, a host, a folder with all below it, or a page. It is known by two fingerprints, so a million seeds
 * cost some 25 MB, shared by all threads. Schemes make no difference: a seed may be tried over both.
 */

import { createFingerprintTable, openFingerprintTable } from '../lib/fingerprint-table.ts';
import type { FingerprintTable, FingerprintView, SharedFingerprints } from '../lib/fingerprint-table.ts';
import type { ScopeKind } from '../model/scope-kind.ts';
import type { Address } from './canonical.ts';
import { fingerprint } from './fingerprint.ts';
import { siteOf } from './site.ts';

/** How much around a seed is its home; `any` is no home at all. */
export type HomeKind = Exclude<ScopeKind, 'any'>;

/** From narrow to wide. */
export const HOME_KINDS: readonly HomeKind[] = ['page', 'path', 'host', 'site'];

export interface Homes {
  /** Does the address lie in a home? Without a home on its site, it does where the scope of the crawl is `any`. */
  cover(address: Address, site: string): boolean;
  /** Does its site have a home? */
  touch(site: string): boolean;
  /** The narrowest kind of home that is exactly here; null when none is. */
  kindAt(address: Address): HomeKind | null;
  readonly size: number;
  /** To be sent to other threads, for `openHomes`. */
  readonly shared: SharedHomes;
}

export interface SharedHomes {
  /** The scope of links to sites without a home. */
  readonly elsewhere: 'wanted' | 'refused';
  readonly table: SharedFingerprints;
}

/** The one thread that makes the homes may add to them; what was shared before does not know of it. */
export interface GrowingHomes extends Homes {
  /** True when it was not there before. */
  add(key: string): boolean;
}

/** The key of the home of this kind around the address; keys are what is kept of a home. */
export const homeKey = (kind: HomeKind, address: Address): string => {
  switch (kind) {
    case 'site':
      return `site ${siteOf(address.host)}`;
    case 'host':
      return `host ${authorityOf(address)}`;
    case 'path':
      return `path ${authorityOf(address)}${address.path.slice(0, folderEnd(address.path))}`;
    case 'page':
      return `page ${authorityOf(address)}${address.path}`;
    default:
      return kind satisfies never;
  }
};

/** What says that a site has a home: without it, nothing else is looked for. */
const touchKey = (site: string): string => `in ${site}`;

/** Both keys that a home consists of. */
export const homeKeys = (kind: HomeKind, address: Address): string[] => [
  homeKey(kind, address),
  touchKey(siteOf(address.host)),
];

export const createHomes = (scope: ScopeKind): GrowingHomes => {
  const table: FingerprintTable = createFingerprintTable();
  const elsewhere = scope === 'any' ? 'wanted' : 'refused';
  const homes = homesOver(table, elsewhere);
  return {
    ...homes,
    add: (key) => table.add(fingerprint(key)),
    get size() {
      return table.size;
    },
    get shared() {
      return { elsewhere, table: table.shared } as const;
    },
  };
};

export const openHomes = (shared: SharedHomes): Homes => ({
  ...homesOver(openFingerprintTable(shared.table), shared.elsewhere),
  size: shared.table.size,
  shared,
});

const homesOver = (table: FingerprintView, elsewhere: SharedHomes['elsewhere']): Omit<Homes, 'size' | 'shared'> => {
  const has = (key: string): boolean => table.has(fingerprint(key));
  return {
    touch: (site) => has(touchKey(site)),
    kindAt: (address) => HOME_KINDS.find((kind) => has(homeKey(kind, address))) ?? null,
    cover: (address, site) => {
      if (!has(touchKey(site))) return elsewhere === 'wanted';
      if (has(`site ${site}`)) return true;
      const authority = authorityOf(address);
      return (
        has(`host ${authority}`) || has(`page ${authority}${address.path}`) || isBelow(has, authority, address.path)
      );
    },
  };
};

/** Looks at each folder on the way down; a path has at most URL_CHARS_MAX characters, and a trap is refused before. */
const isBelow = (has: (key: string) => boolean, authority: string, path: string): boolean => {
  const end = folderEnd(path);
  for (let at = 1; at <= end; at = path.indexOf('/', at) + 1) {
    if (has(`path ${authority}${path.slice(0, at)}`)) return true;
    if (path.indexOf('/', at) < 0) return false;
  }
  return false;
};

/** Where the folder of a path ends, its last slash included; a slash in the query ends none. */
const folderEnd = (path: string): number => {
  const query = path.indexOf('?');
  return path.lastIndexOf('/', query < 0 ? path.length : query) + 1;
};

/** Host and port, without the scheme. */
const authorityOf = ({ origin }: Address): string => origin.slice(origin.indexOf('/') + 2);
