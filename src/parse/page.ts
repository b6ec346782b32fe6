/** From the bytes of a page to its findings; nothing that a server sends makes it throw. */

import { TextDecoder } from 'node:util';
import { type Findings, HREFS_PER_PAGE_MAX } from '../model/findings.ts';
import { ROBOTS_BYTES_MAX } from '../model/robots.ts';
import { finished } from '../lib/steps.ts';
import { readLocation } from '../url/location.ts';
import { resolveBase } from './base.ts';
import { type Decoded, decodeBytes } from './charset.ts';
import { addHeader } from './directives.ts';
import { isFeed, readFeed } from './feed.ts';
import { withFirst } from './hrefs.ts';
import { scanHtml } from './html/scan.ts';
import { inflate, inflateInSteps } from './inflate.ts';
import { essence } from './media-type.ts';
import { refreshTarget } from './refresh.ts';
import { plainText, xmlText } from './xml.ts';

export interface PageSource {
  /** The address of the page, which its links are relative to. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came, content-encoded. */
  readonly body: Uint8Array;
  /** No more of the decoded body than this is read. */
  readonly textBytesMax: number;
  /** `gossamer`: a meta element of this name counts like `robots`. */
  readonly productToken: string;
  /** False where nobody will read the text: that of the findings is then empty. */
  readonly text?: boolean;
  /** Whether the time for this page is up; asked while a body that is broken or too large is unpacked. */
  readonly isLate?: (() => boolean) | undefined;
}

export interface ParsedPage {
  readonly findings: Findings;
  /** The body inflated past the ceiling, or for too long, and was cut. */
  readonly cut: boolean;
  /** The content-encoding was broken: what could be read was. */
  readonly broken: boolean;
}

export interface ReadPage extends ParsedPage {
  /** The body as text, which the findings were read from. */
  readonly source: string;
}

/** Bytes looked at to tell text from anything else (the MIME Sniffing Standard takes 1,445). */
const SNIFFED_BYTES = 1024;

const UTF_8 = new TextDecoder();
const UTF_16LE = new TextDecoder('utf-16le');
const UTF_16BE = new TextDecoder('utf-16be');

/** Whether a response with this Content-Type is worth reading as text; with none, its first bytes decide. */
export const isText = (contentType: string, firstBytes?: Uint8Array): boolean => {
  const type = essence(contentType);
  if (type === '') return firstBytes === undefined || !looksBinary(firstBytes);
  return type.startsWith('text/') || isXml(type);
};

export const parsePage = (source: PageSource): ReadPage => {
  const { headers, textBytesMax } = source;
  const contentType = headers['content-type'] ?? '';
  if (!isText(contentType)) return headAlone(source);
  const limits = { bytesMax: textBytesMax, isLate: source.isLate };
  const { bytes, end } = inflate(source.body, headers['content-encoding'] ?? '', limits);
  const cut = end === 'full' || end === 'late';
  const broken = end === 'broken';
  const type = essence(contentType);
  const named = broken && looksBinary(bytes) ? 'none' : kindOf(type, bytes);
  const decoded = decodeBytes({ bytes, contentType, html: named === 'html' || named === 'xhtml' });
  const kind = named !== 'none' && named !== 'xhtml' && isFeed(type, decoded.text) ? 'feed' : named;
  return { findings: findingsOf(source, { kind, ...decoded }), source: decoded.text, cut, broken };
};

/** Findings of a response whose body is not text: what X-Robots-Tag, Content-Language and Refresh say. */
const headAlone = (source: PageSource): ReadPage => ({
  findings: findingsOf(source, { kind: 'none', text: '', charset: '', guessed: false }),
  source: '',
  cut: false,
  broken: false,
});

/**
 * A body that is UTF-8 by its own standard, as robots.txt is, with its content-encoding undone. One that begins with
 * the byte order mark of UTF-16 is that, whatever the standard says.
 */
export const decodeText = (headers: Readonly<Record<string, string>>, body: Uint8Array): string =>
  finished(decodeTextInSteps(headers, body));

/** Decodes a body like robots.txt piece by piece: whoever runs it may do something else whenever it yields. */
export function* decodeTextInSteps(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Generator<void, string> {
  const { bytes } = yield* inflateInSteps(body, headers['content-encoding'] ?? '', { bytesMax: ROBOTS_BYTES_MAX });
  const mark = bytes.length < 2 ? 0 : bytes[0]! * 256 + bytes[1]!;
  return (mark === 0xfffe ? UTF_16LE : mark === 0xfeff ? UTF_16BE : UTF_8).decode(bytes);
}

type Kind = 'html' | 'xhtml' | 'feed' | 'xml' | 'plain' | 'none';

interface PageText extends Decoded {
  readonly kind: Kind;
}

const findingsOf = (source: PageSource, page: PageText): Findings => {
  const { headers, url, textBytesMax } = source;
  const productToken = source.productToken.toLowerCase();
  const html = page.kind === 'html' || page.kind === 'xhtml';
  const wantsText = source.text ?? true;
  const scanned = scanHtml(html ? page.text : '', { productToken, xhtml: page.kind === 'xhtml', text: wantsText });
  const { directives } = scanned;
  const { hrefs, base } = page.kind === 'feed' ? readFeed(page.text, HREFS_PER_PAGE_MAX) : scanned;
  addHeader(directives, headers['x-robots-tag'] ?? '', productToken);
  const text = wantsText ? textOf(page, scanned.text) : '';
  return {
    title: scanned.title,
    language: scanned.language || (headers['content-language'] ?? '').split(',', 1).join('').trim(),
    charset: page.charset,
    charsetGuessed: page.guessed,
    base: resolveBase(base, url),
    hrefs: directives.nofollow ? [] : withFirst(refreshTarget(readLocation(headers.refresh ?? '')), hrefs),
    canonical: scanned.canonical,
    noindex: directives.noindex,
    nofollow: directives.nofollow,
    text: text.length > textBytesMax ? text.slice(0, textBytesMax) : text,
  };
};

const textOf = ({ kind, text }: PageText, scanned: string): string =>
  kind === 'xml' || kind === 'feed' ? xmlText(text) : kind === 'plain' ? plainText(text) : scanned;

const isXml = (type: string): boolean => type === 'application/xml' || type.endsWith('+xml');

const kindOf = (type: string, bytes: Uint8Array): Kind => {
  if (type === 'text/html') return 'html';
  if (type === 'application/xhtml+xml') return 'xhtml';
  if (type === 'text/xml' || isXml(type)) return 'xml';
  if (type.startsWith('text/')) return 'plain';
  if (type !== '' || looksBinary(bytes)) return 'none';
  return beginsWithMarkup(bytes) ? 'html' : 'plain';
};

const beginsWithMarkup = (bytes: Uint8Array): boolean =>
  /^(?:\xef\xbb\xbf)?\s*<[a-z!?]/i.test(headOf(bytes)) || /^(?:\xff\xfe|\xfe\xff)/.test(headOf(bytes));

/** Control characters that no text has (MIME Sniffing Standard, 3); UTF-16 with its mark is text. */
const looksBinary = (bytes: Uint8Array): boolean => {
  const head = headOf(bytes);
  if (head.startsWith('\xff\xfe') || head.startsWith('\xfe\xff')) return false;
  return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(head);
};

const headOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFFED_BYTES)).toString('latin1');
