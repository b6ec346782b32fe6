/** What differs between the pages that the files have and those that a crawl has? */

import { keyOf, type Expected, type Via } from './walk.ts';

export interface Verdict {
  readonly site: string;
  readonly expected: number;
  readonly fetched: number;
  /** Addresses of pages that links lead to and that the files do not have. */
  readonly broken: number;
  /** What the files have and the crawl has not, a line each. */
  readonly missing: readonly string[];
  /** What the crawl asked for although no link leads there, or what it has twice, a line each. */
  readonly extra: readonly string[];
}

/** What is looked at of a line of `pages --format jsonl`. */
export interface Row {
  readonly url: string;
  /** The registrable domain. */
  readonly site: string;
  readonly outcome: string;
}

/** Links to other files may be broken unseen: where the ending is that of an image, it is not asked for. */
const namesPage = (url: string): boolean => /(?:\.html?|\/)$/.test(new URL(url).pathname);

export const compare = (site: string, expected: Expected, rows: readonly Pick<Row, 'url' | 'outcome'>[]): Verdict => {
  const got = rows.map(({ url, outcome }) => ({ key: keyOf(new URL(url)), outcome }));
  const outcomes = new Map(got.map(({ key, outcome }) => [key, outcome]));
  const lacks = (key: string, outcome: string, { page, href }: Via): string[] => {
    const is = outcomes.get(key) ?? 'never asked for';
    return is === outcome ? [] : [`${key}: ${is}, not ${outcome}; link ${JSON.stringify(href)} of ${page}`];
  };
  const known = new Set<string>();
  const extra = got.flatMap(({ key, outcome }) => {
    if (known.has(key)) return [`${key}: asked for in two spellings`];
    known.add(key);
    if (outcome === 'fetched') return expected.pages.has(key) ? [] : [`${key}: no link within the scope leads there`];
    return outcome !== 'client-error' || expected.broken.has(key)
      ? []
      : [`${key}: no link within the scope leads there`];
  });
  const broken = [...expected.broken].filter(([key]) => namesPage(key));
  return {
    site,
    expected: expected.pages.size,
    fetched: got.filter(({ outcome }) => outcome === 'fetched').length,
    broken: broken.length,
    missing: [
      ...[...expected.pages].flatMap(([key, via]) => lacks(key, 'fetched', via)),
      ...broken.flatMap(([key, via]) => lacks(key, 'client-error', via)),
    ],
    extra,
  };
};
