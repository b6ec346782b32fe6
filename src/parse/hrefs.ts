/** The addresses that a page links to, as written, each once and in order. */

import { HREFS_PER_PAGE_MAX } from '../model/findings.ts';

/** No address this long is admitted (2,000 characters at the most), however much of it is dots and escapes. */
const HREF_CHARS_MAX = 16_384;

/** Schemes that never lead to a page. */
const DEAD_ENDS = ['javascript:', 'mailto:', 'tel:', 'data:'];

export interface Hrefs {
  readonly list: string[];
  /** Addresses of the list without their fragments. */
  readonly known: Set<string>;
  readonly countMax: number;
}

export const createHrefs = (countMax = HREFS_PER_PAGE_MAX): Hrefs => ({ list: [], known: new Set(), countMax });

/** Trimmed, with no tabs and line breaks inside: the URL standard reads it the same way. */
export const tidyHref = (written: string): string => {
  let start = 0;
  let end = written.length;
  while (start < end && written.charCodeAt(start) <= 32) start += 1;
  while (end > start && written.charCodeAt(end - 1) <= 32) end -= 1;
  for (let at = start; at < end; at += 1) {
    const code = written.charCodeAt(at);
    if (code === 9 || code === 10 || code === 13) return written.slice(start, end).replace(/[\t\n\r]+/g, '');
  }
  return written.slice(start, end);
};

/** Adds an address, unless it leads nowhere, is known, or is one too many. */
export const addHref = (hrefs: Hrefs, written: string): void => {
  if (hrefs.list.length >= hrefs.countMax) return;
  const href = tidyHref(written);
  if (!leadsSomewhere(href)) return;
  const page = withoutFragment(href);
  if (hrefs.known.has(page)) return;
  hrefs.known.add(page);
  hrefs.list.push(href);
};

/**
 * The index of a manual links to thousands of places in a few pages: these must not use up the ceiling before its last
 * pages. Only compared, never resolved: what is left of `a #b` ends with a space that belongs to the path.
 */
const withoutFragment = (href: string): string => {
  const at = href.indexOf('#');
  return at < 0 ? href : href.slice(0, at);
};

/** Forgets all but the first so many. */
export const cutHrefs = (hrefs: Hrefs, count: number): void => {
  for (const href of hrefs.list.splice(count)) hrefs.known.delete(withoutFragment(href));
};

/** Puts an address before others, among which it may stand already. */
export const withFirst = (first: string, hrefs: readonly string[]): readonly string[] => {
  const all = createHrefs();
  addHref(all, first);
  if (all.list.length === 0) return hrefs;
  for (const href of hrefs) addHref(all, href);
  return all.list;
};

const leadsSomewhere = (href: string): boolean => {
  if (href === '' || href.charCodeAt(0) === 35 || href.length > HREF_CHARS_MAX) return false;
  const initial = href.charCodeAt(0) | 32;
  if (initial !== 106 && initial !== 109 && initial !== 116 && initial !== 100) return true; // j, m, t, d
  const head = href.slice(0, 11).toLowerCase();
  return !DEAD_ENDS.some((scheme) => head.startsWith(scheme));
};
