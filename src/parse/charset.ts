/** Which encoding a text is in, and the text itself (Encoding Standard; HTML standard, 13.2.3). */

import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import {
  CHARSET,
  CONTENT,
  createAttributes,
  has,
  HTTP_EQUIV,
  readAttributes,
  attributeValue,
} from './html/attributes.ts';
import { bogusEnd, commentEnd } from './html/skip.ts';
import { opensMarkup } from './html/text.ts';

export interface Decoded {
  readonly text: string;
  /** The encoding's name in the words of the Encoding Standard. */
  readonly charset: string;
}

export interface EncodedText {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Whether `<meta charset>` counts here. */
  readonly html: boolean;
}

/** HTML standard, prescan: as far as a page may be searched for its encoding. */
const PRESCAN_BYTES = 1024;
/** A label longer than this names no encoding. */
const LABEL_CHARS_MAX = 64;

export const decodeBytes = (source: EncodedText): Decoded => {
  const charset = charsetOf(source);
  return { text: decoderOf(charset)?.decode(source.bytes) ?? '', charset };
};

const charsetOf = ({ bytes, contentType, html }: EncodedText): string => {
  const marked = byteOrderMark(bytes);
  if (marked !== null) return marked;
  const declared = known(charsetParameter(contentType));
  if (declared !== null) return declared;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PRESCAN_BYTES)).toString('latin1');
  const wide = wideDeclaration(head);
  if (wide !== null) return wide;
  return declaredInside(html ? metaLabel(head) : '') ?? declaredInside(xmlLabel(head)) ?? guess(bytes);
};

const byteOrderMark = (bytes: Uint8Array): string | null => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return null;
};

/** `<?x` in two bytes a character, with no mark before it. */
const wideDeclaration = (head: string): string | null => {
  if (head.startsWith('<\0?\0x\0')) return 'utf-16le';
  if (head.startsWith('\0<\0?\0x')) return 'utf-16be';
  return null;
};

const DECODERS = new Map<string, TextDecoder | null>();
/** Labels come from the web: those that name nothing are not kept without end. The standard has 228. */
const DECODERS_MAX = 512;

const decoderOf = (label: string): TextDecoder | null => {
  const kept = DECODERS.get(label);
  if (kept !== undefined) return kept;
  let decoder: TextDecoder | null = null;
  try {
    decoder = new TextDecoder(label);
  } catch {
    // No encoding of the standard has this label.
  }
  if (DECODERS.size < DECODERS_MAX) DECODERS.set(label, decoder);
  return decoder;
};

/** The name of the encoding that a label means; null when it means none. */
const known = (label: string): string | null => {
  const clean = label.trim().toLowerCase();
  if (clean === '' || clean.length > LABEL_CHARS_MAX) return null;
  return decoderOf(clean)?.encoding ?? null;
};

/** A declaration in bytes that were read as ASCII cannot mean UTF-16. */
const declaredInside = (label: string): string | null => {
  if (label.trim().toLowerCase() === 'x-user-defined') return 'windows-1252'; // HTML standard, prescan
  const name = known(label);
  return name?.startsWith('utf-16') ? 'utf-8' : name;
};

/** The value after `charset=`, in a Content-Type or the content of a meta element. */
const charsetParameter = (value: string): string =>
  /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/i
    .exec(value)
    ?.slice(1)
    .find((label) => label !== undefined) ?? '';

const xmlLabel = (head: string): string => {
  if (!head.startsWith('<?xml')) return '';
  const declaration = head.slice(0, bogusEnd(head, 0));
  return (
    /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/
      .exec(declaration)
      ?.slice(1)
      .find((label) => label !== undefined) ?? ''
  );
};

/** The first meta element that names an encoding, in either of its two forms. */
const metaLabel = (head: string): string => {
  const tag = createAttributes(head);
  let at = head.indexOf('<');
  while (at >= 0 && at < head.length) {
    const code = head.charCodeAt(at + 1);
    let end = at + 1;
    if (head.startsWith('!--', at + 1)) end = commentEnd(head, at + 4);
    else if (code === 33 || code === 63) end = bogusEnd(head, at + 2);
    else if (opensMarkup(code)) {
      const isMeta = /^meta[\s/]/i.test(head.slice(at + 1, at + 6));
      const nameLength = /^\/?[^\s/>]*/.exec(head.slice(at + 1))?.[0].length ?? 0;
      readAttributes(tag, at + 1 + nameLength, true);
      if (tag.end < 0) return '';
      end = tag.end;
      const label = isMeta ? labelOf() : '';
      if (declaredInside(label) !== null) return label;
    }
    at = head.indexOf('<', end);
  }
  return '';

  function labelOf(): string {
    if (has(tag, CHARSET)) return attributeValue(tag, CHARSET);
    return attributeValue(tag, HTTP_EQUIV).toLowerCase() === 'content-type'
      ? charsetParameter(attributeValue(tag, CONTENT))
      : '';
  }
};

/** Bytes that are UTF-8 were meant so; anything else is what browsers take for the West. */
const guess = (bytes: Uint8Array): string => {
  if (isUtf8(bytes)) return 'utf-8';
  const whole = bytes.subarray(0, wholeEnd(bytes));
  // A text may be cut within its last character; ASCII before that would prove nothing.
  return whole.length < bytes.length && isUtf8(whole) && !isAscii(whole) ? 'utf-8' : 'windows-1252';
};

/** Where the last, unfinished UTF-8 character begins; the end when there is none. */
const wholeEnd = (bytes: Uint8Array): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return bytes.length - back;
    if (byte < 0x80) break;
  }
  return bytes.length;
};
