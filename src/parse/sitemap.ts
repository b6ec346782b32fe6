/** The addresses that a sitemap lists: XML, an index of sitemaps, or plain text with one on each line. */

import type { Findings } from '../model/findings.ts';
import { SITEMAP_ENTRIES_MAX, SITEMAP_TEXT_BYTES_MAX } from '../model/sitemap.ts';
import { decodeBytes } from './charset.ts';
import { addHeader, createDirectives } from './directives.ts';
import { tidyHref } from './hrefs.ts';
import { decodeAttribute } from './html/references.ts';
import { bogusEnd, commentEnd } from './html/skip.ts';
import { inflate } from './inflate.ts';
import type { PageSource } from './page.ts';
import type { Unpacked } from './unpack/limits.ts';

/** What a sitemap lists, as written. */
export interface Listed {
  readonly pages: string[];
  /** The sitemaps that an index lists. */
  readonly sitemaps: string[];
}

export interface SitemapSource extends Omit<PageSource, 'textBytesMax'> {
  /** All of the body came. */
  readonly whole: boolean;
}

export interface ParsedSitemap {
  readonly findings: Findings;
  /** It inflated past the ceiling, or for too long, and was read up to there. */
  readonly cut: boolean;
}

/** Longer addresses are never admitted, whatever is taken off them. */
const LOC_CHARS_MAX = 8_000;

export const parseSitemap = (source: SitemapSource): ParsedSitemap => {
  const { url, headers, productToken } = source;
  const { bytes, end } = unpack(source);
  const { text, charset, guessed } = decodeBytes({ bytes, contentType: headers['content-type'] ?? '', html: false });
  const directives = createDirectives();
  addHeader(directives, headers['x-robots-tag'] ?? '', productToken);
  const { pages, sitemaps } = directives.nofollow ? NOTHING : listedIn(text, source.whole && end === 'whole');
  const findings: Findings = {
    title: '',
    language: '',
    charset,
    charsetGuessed: guessed,
    base: url,
    hrefs: pages,
    sitemaps,
    canonical: '',
    ...directives,
    text: '',
  };
  return { findings, cut: end === 'full' || end === 'late' };
};

const NOTHING: Listed = { pages: [], sitemaps: [] };

/** A file that is packed itself is known by its first bytes: servers name its type and coding in every way there is. */
const unpack = ({ body, headers, isLate }: SitemapSource): Unpacked => {
  const limits = { bytesMax: SITEMAP_TEXT_BYTES_MAX, isLate };
  const outer = inflate(body, headers['content-encoding'] ?? '', limits);
  if (outer.bytes[0] !== 0x1f || outer.bytes[1] !== 0x8b) return outer; // RFC 1952, 2.3.1
  const inner = inflate(outer.bytes, 'gzip', limits);
  return { bytes: inner.bytes, end: outer.end === 'whole' ? inner.end : outer.end };
};

/** When a text was cut, its last address is dropped if it may be half of one: half an address is another address. */
export const listedIn = (text: string, whole: boolean): Listed =>
  /^\s*</.test(text) ? listedInXml(text) : { pages: listedInLines(text, whole), sitemaps: [] };

const listedInLines = (text: string, whole: boolean): string[] => {
  const pages: string[] = [];
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    if (!whole && index + line.length === text.length) break;
    if (line.length > LOC_CHARS_MAX) continue;
    const href = tidyHref(line);
    if (!/^https?:\/\//i.test(href)) continue; // words, not an address
    if (pages.push(href) >= SITEMAP_ENTRIES_MAX) break;
  }
  return pages;
};

/**
 * `loc` counts directly for the `url` or `sitemap` it stands in, and only with the same prefix: `image:loc` and its
 * like name files. Each character is looked at once, so a hostile text costs what its length does.
 */
const listedInXml = (text: string): Listed => {
  const listed: Listed = { pages: [], sitemaps: [] };
  let parent: Name | null = null;
  let at = text.indexOf('<');
  while (at >= 0 && listed.pages.length + listed.sitemaps.length < SITEMAP_ENTRIES_MAX) {
    const skipped = skipNoTag(text, at);
    if (skipped >= 0) {
      at = text.indexOf('<', skipped);
      continue;
    }
    const closes = text.charCodeAt(at + 1) === SLASH;
    const tag = nameAt(text, closes ? at + 2 : at + 1);
    let end = bogusEnd(text, at + 1);
    if (tag.local === 'url' || tag.local === 'sitemap') {
      if (!closes) parent = tag;
      else if (isSame(parent, tag)) parent = null;
    } else if (tag.local === 'loc' && !closes && parent?.prefix === tag.prefix && text.charCodeAt(end - 2) !== SLASH) {
      const loc = readLoc(text, end);
      end = loc.end;
      if (loc.href !== '') (parent.local === 'url' ? listed.pages : listed.sitemaps).push(loc.href);
    }
    at = text.indexOf('<', end);
  }
  return listed;
};

const SLASH = 47;

/** Behind the comment, marked section, declaration or instruction at `at`; -1 when a tag is there. */
const skipNoTag = (text: string, at: number): number => {
  if (text.startsWith('<!--', at)) return commentEnd(text, at + 4);
  if (text.startsWith(CDATA, at)) return cdataEnd(text, at) + 3;
  const next = text.charCodeAt(at + 1);
  return next === 33 || next === 63 ? bogusEnd(text, at + 2) : -1; // ! and ?
};

const CDATA = '<![CDATA[';

const cdataEnd = (text: string, at: number): number => {
  const close = text.indexOf(']]>', at + CDATA.length);
  return close < 0 ? text.length : close;
};

interface Name {
  readonly prefix: string;
  readonly local: string;
}

const isSame = (one: Name | null, other: Name): boolean => one?.local === other.local && one.prefix === other.prefix;

/** No name that means something here is longer. */
const NAME_CHARS_MAX = 64;

const nameAt = (text: string, at: number): Name => {
  const name = /^[^\s/>]*/.exec(text.slice(at, at + NAME_CHARS_MAX))?.[0] ?? '';
  const colon = name.indexOf(':');
  return { prefix: name.slice(0, Math.max(0, colon)), local: name.slice(colon + 1) };
};

interface Loc {
  /** Empty when there is none, it is too long, or its end is missing. */
  readonly href: string;
  readonly end: number;
}

const readLoc = (text: string, from: number): Loc => {
  let href = '';
  let chars = 0;
  const add = (start: number, end: number, decode: (piece: string) => string): void => {
    chars += end - start;
    if (chars <= LOC_CHARS_MAX) href += decode(text.slice(start, end));
  };
  for (let at = from; ; ) {
    const next = text.indexOf('<', at);
    if (next < 0) return { href: '', end: text.length };
    add(at, next, decodeAttribute);
    if (text.startsWith(CDATA, next)) {
      const close = cdataEnd(text, next);
      add(next + CDATA.length, close, asItIs);
      at = close + 3;
    } else if (text.startsWith('<!--', next)) at = commentEnd(text, next + 4);
    else return { href: chars > LOC_CHARS_MAX ? '' : tidyHref(href.trim()), end: next }; // U+00A0 too
  }
};

const asItIs = (piece: string): string => piece;
