/** The addresses that a sitemap lists: XML, an index of sitemaps, a feed, or plain text with one on each line. */

import type { Findings } from '../model/findings.ts';
import { SITEMAP_ENTRIES_MAX, SITEMAP_TEXT_BYTES_MAX } from '../model/sitemap.ts';
import { resolveBase } from './base.ts';
import { decodeBytes } from './charset.ts';
import { addHeader, createDirectives } from './directives.ts';
import { isFeed, readFeed } from './feed.ts';
import { tidyHref } from './hrefs.ts';
import { bogusEnd } from './html/skip.ts';
import { inflate } from './inflate.ts';
import { essence } from './media-type.ts';
import type { PageSource } from './page.ts';
import type { Unpacked } from './unpack/limits.ts';
import { ADDRESS_CHARS_MAX, isSameName, type Name, nextTag, readAddress, SLASH, tagAt } from './xml-tags.ts';

/** What a sitemap lists, as written. */
export interface Listed {
  readonly pages: readonly string[];
  /** The sitemaps that an index lists. */
  readonly sitemaps: readonly string[];
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

export const parseSitemap = (source: SitemapSource): ParsedSitemap => {
  const { url, headers, productToken } = source;
  const { bytes, end } = unpack(source);
  const contentType = headers['content-type'] ?? '';
  const { text, charset, guessed } = decodeBytes({ bytes, contentType, html: false });
  const directives = createDirectives();
  addHeader(directives, headers['x-robots-tag'] ?? '', productToken);
  // The protocol takes a feed for a sitemap (sitemaps.org/protocol.html, other formats).
  const feed = isFeed(essence(contentType), text) ? readFeed(text, SITEMAP_ENTRIES_MAX) : null;
  const listed = feed ? { pages: feed.hrefs, sitemaps: [] } : listedIn(text, source.whole && end === 'whole');
  const { pages, sitemaps } = directives.nofollow ? NOTHING : listed;
  const findings: Findings = {
    title: '',
    language: '',
    charset,
    charsetGuessed: guessed,
    base: resolveBase(feed?.base ?? null, url),
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
    if (line.length > ADDRESS_CHARS_MAX) continue;
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
  const pages: string[] = [];
  const sitemaps: string[] = [];
  let parent: Name | null = null;
  let at = nextTag(text, 0);
  while (at >= 0 && pages.length + sitemaps.length < SITEMAP_ENTRIES_MAX) {
    const tag = tagAt(text, at);
    let end = bogusEnd(text, at + 1);
    if (tag.local === 'url' || tag.local === 'sitemap') {
      if (!tag.closes) parent = tag;
      else if (isSameName(parent, tag)) parent = null;
    } else if (tag.local === 'loc' && !tag.closes && parent?.prefix === tag.prefix && !isEmptyAt(text, end)) {
      const loc = readAddress(text, end);
      end = loc.end;
      if (loc.href !== '') (parent.local === 'url' ? pages : sitemaps).push(loc.href);
    }
    at = nextTag(text, end);
  }
  return { pages, sitemaps };
};

const isEmptyAt = (text: string, tagEnd: number): boolean => text.charCodeAt(tagEnd - 2) === SLASH;
