/** A set of sites or hosts in shared memory: a million lines of seeds, looked at from every thread. */

import { createFingerprintTable, openFingerprintTable } from '../lib/fingerprint-table.ts';
import type { FingerprintView, SharedFingerprints } from '../lib/fingerprint-table.ts';
import { fingerprint } from './fingerprint.ts';

export interface SiteSet {
  /** Is exactly this name in the set? */
  has(name: string): boolean;
  /** Is the host in the set, or a name it lies below? `example.org` covers `a.b.example.org`. */
  hasHostOrParent(host: string): boolean;
  readonly size: number;
  /** To be sent to other threads, for `openSiteSet`. */
  readonly shared: SharedFingerprints;
}

/** Names are taken as they are: canonical hosts, as `readSeed` and `readExcluded` give them. */
export const createSiteSet = (names: Iterable<string>): SiteSet => {
  const table = createFingerprintTable();
  for (const name of names) table.add(fingerprint(name));
  return siteSetOver(table, table.shared);
};

export const openSiteSet = (shared: SharedFingerprints): SiteSet => siteSetOver(openFingerprintTable(shared), shared);

const siteSetOver = (table: FingerprintView, shared: SharedFingerprints): SiteSet => {
  const has = (name: string): boolean => table.has(fingerprint(name));
  const hasHostOrParent = (host: string): boolean => {
    if (table.size === 0) return false;
    for (let name = host; ; ) {
      if (has(name)) return true;
      const dot = name.indexOf('.');
      if (dot < 0) return false;
      name = name.slice(dot + 1);
    }
  };
  return { has, hasHostOrParent, size: table.size, shared };
};
