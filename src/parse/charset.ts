/** Which encoding a text is in, and the text itself (Encoding Standard; HTML standard, 13.2.3). */

import { isAscii, isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { charsetParameter, decoderOf, encodingDeclared, encodingNamed } from './encodings/labels.ts';
import { bogusEnd } from './html/skip.ts';
import { lateMetaCharset, metaCharset } from './meta-charset.ts';

export interface Decoded {
  readonly text: string;
  /** The encoding's name in the words of the Encoding Standard. */
  readonly charset: string;
  /** Whether nothing named it. */
  readonly guessed: boolean;
}

export interface EncodedText {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Whether `<meta charset>` counts here. */
  readonly html: boolean;
}

/** Enough to tell encodings apart by their letters; a detector takes about half a millisecond for it. */
const DETECT_BYTES_MAX = 4_096;
/** A few odd bytes look like any alphabet; they are most often those of a western text. */
const DETECT_LETTERS_LEAST = 20;
/** HTML standard, prescan: where the declaration of an encoding belongs. */
const PRESCAN_BYTES = 1024;

export const decodeBytes = (source: EncodedText): Decoded => {
  const named = namedCharset(source);
  const charset = named ?? guess(source.bytes);
  return { text: decoderOf(charset)?.decode(source.bytes) ?? '', charset, guessed: named === null };
};

/** The encoding that the bytes, their header or they themselves name; null when none of them does. */
const namedCharset = ({ bytes, contentType, html }: EncodedText): string | null => {
  const marked = byteOrderMark(bytes);
  if (marked !== null) return marked;
  const declared = encodingNamed(charsetParameter(contentType));
  if (declared !== null) return declared;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const head = body.toString('latin1', 0, PRESCAN_BYTES);
  const wide = wideDeclaration(head);
  if (wide !== null) return wide;
  return (html ? metaCharset(head) : null) ?? encodingDeclared(xmlLabel(head)) ?? (html ? lateMetaCharset(body) : null);
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

/** Bytes that are UTF-8 were meant so; anything else is what browsers take for the West. */
const guess = (bytes: Uint8Array): string => {
  if (isUtf8(bytes)) return 'utf-8';
  const whole = bytes.subarray(0, wholeEnd(bytes));
  // A text may be cut within its last character; ASCII before that would prove nothing.
  return whole.length < bytes.length && isUtf8(whole) && !isAscii(whole) ? 'utf-8' : detected(bytes);
};

/** Loaded when a page needs it: few do, and every parse thread would compile it. */
const detector = (): typeof import('chardet') => createRequire(import.meta.url)('chardet') as typeof import('chardet');

/** From the first byte on that is not ASCII: it begins a character in every encoding, and markup says nothing. */
const detected = (bytes: Uint8Array): string => {
  const from = bytes.findIndex((byte) => byte > 0x7f);
  const sample = bytes.subarray(from, from + DETECT_BYTES_MAX);
  if (sample.filter((byte) => byte > 0x7f).length < DETECT_LETTERS_LEAST) return 'windows-1252';
  for (const { name } of detector().analyse(sample)) {
    const encoding = name.startsWith('UTF-') ? null : encodingNamed(name); // what is UTF-8 or marked was known before
    if (encoding !== null) return encoding;
  }
  return 'windows-1252';
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
