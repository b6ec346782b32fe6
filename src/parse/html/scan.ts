/**
 * One pass over a page: its links, title, language, directives and text.
 *
 * It follows the tokenizer of the HTML standard, and of its tree construction only what decides
 * which tags count: svg and math, templates, framesets. Nothing here goes back but once, into a
 * noframes, so the time is linear in the page whatever is written there.
 */

import type { Directives } from '../directives.ts';
import { readAttributes } from './attributes.ts';
import { endElement, readFrame, readLanguage, readRawText, startElement, startForeignElement } from './elements.ts';
import { closeForeign, inForeign, openForeign } from './foreign.ts';
import { decodeText } from './references.ts';
import { bogusEnd, commentEnd, rawTextEnd } from './skip.ts';
import {
  beginBody,
  createNoframesScan,
  createScan,
  isMuted,
  type Scan,
  type ScanOptions,
  settleBody,
} from './state.ts';
import { RAW, READ, type Tag, tagAt, UNKNOWN, VOID } from './tags.ts';
import { opensMarkup, readText } from './text.ts';

export interface Scanned {
  readonly title: string;
  readonly language: string;
  /** The first `<base href>`; null when there is none. */
  readonly base: string | null;
  readonly canonical: string;
  readonly hrefs: readonly string[];
  readonly directives: Directives;
  readonly text: string;
}

const BANG = 33;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const QUESTION = 63;
/** The white space of HTML is less than that of JavaScript. */
const CONTENT = /[^\t\n\f\r \0]/;

export const scanHtml = (source: string, options: ScanOptions): Scanned => {
  const scan = createScan(source, options);
  readAll(scan);
  return {
    title: scan.title ?? '',
    language: scan.language ?? '',
    base: scan.base,
    canonical: scan.canonical,
    hrefs: scan.hrefs.list,
    directives: scan.directives,
    text: scan.sink.out,
  };
};

const readAll = (scan: Scan): void => {
  let at = 0;
  while (at < scan.source.length) at = step(scan, at);
};

/** Reads one piece of text or markup and says where the next one begins. */
const step = (scan: Scan, at: number): number => {
  const { source } = scan;
  if (source.charCodeAt(at) !== LESS) return readCharacters(scan, at);
  const code = source.charCodeAt(at + 1);
  if (!opensMarkup(code)) return readCharacters(scan, at);
  if (code === SLASH) return readEndTag(scan, at);
  if (code === BANG) return readDeclaration(scan, at);
  if (code === QUESTION) return bogusEnd(source, at + 2);
  return readStartTag(scan, at);
};

const readCharacters = (scan: Scan, at: number): number => {
  const { source, sink } = scan;
  if (!scan.options.text || isMuted(scan)) {
    const next = source.indexOf('<', at + 1);
    const end = next < 0 ? source.length : next;
    noteCharacters(scan, at, end);
    return end;
  }
  const preformatted = scan.preformatted > 0;
  const end = readText(sink, source, { from: at, to: source.length, markup: true, preformatted });
  noteCharacters(scan, at, end);
  return end;
};

/** Anything but white space is content, and a page with content is no frameset; a NUL only begins the body. */
const noteCharacters = (scan: Scan, from: number, to: number): void => {
  if (!scan.framesetAllowed) return;
  const written = scan.source.slice(from, to);
  const text = written.includes('&') ? decodeText(written) : written;
  if (CONTENT.test(text)) settleBody(scan);
  else if (text.includes('\0')) beginBody(scan);
};

const readDeclaration = (scan: Scan, at: number): number => {
  const { source } = scan;
  if (source.startsWith('--', at + 2)) return commentEnd(source, at + 4);
  if (!source.startsWith('[CDATA[', at + 2) || !(scan.options.xhtml || inForeign(scan.foreign))) {
    return bogusEnd(source, at + 2);
  }
  const from = at + 9;
  const close = source.indexOf(']]>', from);
  const to = close < 0 ? source.length : close;
  noteCharacters(scan, from, to);
  if (scan.options.text && !isMuted(scan))
    readText(scan.sink, source, { from, to, markup: false, preformatted: scan.preformatted > 0 });
  return to + 3;
};

const readStartTag = (scan: Scan, at: number): number => {
  const { source, tag, foreign } = scan;
  const nameStop = nameEnd(source, at + 2);
  const element = elementAt(scan, at + 1, nameStop);
  readAttributes(tag, nameStop, (element.flags & READ) !== 0);
  const end = tag.end;
  if (end < 0) return source.length;
  if (scan.frameset) return readInFrameset(scan, element);
  const { name, flags } = element;
  if ((foreign.open.length > 0 || name === 'svg' || name === 'math') && openForeign(foreign, element, tag)) {
    startForeignElement(scan, element);
    return end;
  }
  startElement(scan, element);
  if (scan.options.xhtml && tag.selfClosing) {
    if ((flags & VOID) === 0) endElement(scan, element);
    return end;
  }
  if (name === 'noframes' && (flags & RAW) !== 0) return readNoframes(scan);
  if ((flags & RAW) !== 0) return readRawText(scan, name, end);
  if (foreign.open.length === 0 && element.id !== 0 && (flags & VOID) === 0) scan.openCounts[element.id]! += 1;
  return end;
};

/** Only frames, `html` and `noframes` mean something in a frameset, and only the last two after it. */
const readInFrameset = (scan: Scan, { name, flags }: Tag): number => {
  if (name === 'html') readLanguage(scan);
  else if (name === 'noframes' && (flags & RAW) !== 0) return readNoframes(scan);
  else if (scan.framesetDepth > 0 && name === 'frame') readFrame(scan);
  else if (scan.framesetDepth > 0 && name === 'frameset') scan.framesetDepth += 1;
  return scan.tag.end;
};

/** A page has one, if any. */
const NOFRAMES_PER_PAGE_MAX = 100;

/**
 * Browsers read its content as text, which they do not show. We show no frames: it is read for its links, but not for
 * its text, which mostly says that the browser is old.
 */
const readNoframes = (scan: Scan): number => {
  const { source } = scan;
  const from = scan.tag.end;
  const to = rawTextEnd(source, from, 'noframes');
  if (scan.templates > 0 || scan.noframes >= NOFRAMES_PER_PAGE_MAX) return to;
  scan.noframes += 1;
  readAll(createNoframesScan(scan, source.slice(from, to)));
  return to;
};

const elementAt = (scan: Scan, start: number, end: number): Tag => {
  const element = tagAt(scan.source, start, end);
  return scan.inNoframes && element.name === 'noframes' ? UNKNOWN : element;
};

/** Their end tags close nothing that is still open inside them. */
const KEEP_CONTENT_OPEN: ReadonlySet<string> = new Set(['html', 'head', 'body', 'form']);

const readEndTag = (scan: Scan, at: number): number => {
  const { source, tag, foreign, openCounts } = scan;
  const initial = source.charCodeAt(at + 2) | 32;
  if (!(initial >= 97 && initial <= 122)) return bogusEnd(source, at + 2);
  const nameStop = nameEnd(source, at + 3);
  readAttributes(tag, nameStop, false);
  if (tag.end < 0) return source.length;
  const element = elementAt(scan, at + 2, nameStop);
  if (element.name === 'frameset' && scan.framesetDepth > 0) scan.framesetDepth -= 1;
  const openOutside = openCounts[element.id]! > 0 && !KEEP_CONTENT_OPEN.has(element.name);
  if (foreign.open.length > 0 && closeForeign(foreign, element, openOutside)) return tag.end;
  if (foreign.open.length === 0 && openOutside) openCounts[element.id]! -= 1;
  endElement(scan, element);
  return tag.end;
};

const nameEnd = (source: string, from: number): number => {
  let at = from;
  for (; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === GREATER || code === SLASH || code === 32 || (code >= 9 && code <= 13 && code !== 11)) break;
  }
  return at;
};
