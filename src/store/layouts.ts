/** Which release opens a crawl that this one cannot: what lies in a store may change between versions until 1.0. */

import { StoreFault } from '../contract/fault.ts';

export type LayoutKind = 'crawl.db' | 'pages.db' | 'redis' | 'postgres';

/** Layouts of releases, with the newest one that knows each; a layout that is not listed was never released. */
const RELEASES: Readonly<Record<LayoutKind, Readonly<Record<number, string>>>> = {
  'crawl.db': { 3: '0.1.0' },
  'pages.db': { 1: '0.1.0' },
  redis: { 1: '0.1.0' },
  postgres: { 1: '0.1.0' },
};

export interface OtherLayout {
  readonly kind: LayoutKind;
  /** The subject of the sentence: `the store "x"`. */
  readonly what: string;
  readonly found: number;
  readonly known: number;
}

export const layoutFault = ({ kind, what, found, known }: OtherLayout): StoreFault =>
  new StoreFault(`${what} has layout ${found}, this program knows ${known}`, adviceOf({ kind, found, known }));

const adviceOf = ({ kind, found, known }: Omit<OtherLayout, 'what'>): string => {
  if (found > known) return 'it was made by a newer version: use that one';
  const release = RELEASES[kind][found];
  return release === undefined
    ? 'it was made before the first release, 0.1.0: start a new crawl'
    : `go on with gossamer ${release}, or start a new crawl`;
};
