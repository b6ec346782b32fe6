/** Percent-encoding in one spelling, so that two ways to write an address are one. */

/** The value of a hex digit's character code, or -1. */
const hexValue = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20; // lower case
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
};

/** The octet that the escape at this place stands for, or -1 when it is not an escape. */
export const octetAt = (text: string, at: number): number => {
  if (at + 2 >= text.length) return -1;
  const high = hexValue(text.charCodeAt(at + 1));
  const low = hexValue(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
};

export const escapeOf = (octet: number): string => `%${octet < 16 ? '0' : ''}${octet.toString(16).toUpperCase()}`;

/** RFC 3986, 2.3: letters, digits and - . _ ~ mean the same escaped or not. */
export const isUnreserved = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0x5f ||
  code === 0x7e;

/**
 * Unreserved characters decoded, hex digits in upper case, everything else as it was.
 *
 * A text with a `%` that escapes nothing is left alone: decoding what follows it could
 * make an escape that nobody wrote (`%%32%65` would become `%2e`, and then a dot).
 */
export const normalizePercent = (text: string): string => {
  let at = text.indexOf('%');
  if (at < 0) return text;
  let out = '';
  let copied = 0;
  for (; at >= 0; at = text.indexOf('%', at + 3)) {
    const octet = octetAt(text, at);
    if (octet < 0) return text;
    const spelling = isUnreserved(octet) ? String.fromCharCode(octet) : escapeOf(octet);
    out += text.slice(copied, at) + spelling;
    copied = at + 3;
  }
  return out + text.slice(copied);
};

const UNPRINTABLE = /[^\x20-\x7e]+/g;
const ENCODER = new TextEncoder();

/** Text outside printable ASCII escaped as UTF-8; a lone surrogate becomes U+FFFD. */
export const escapeUnprintable = (text: string): string =>
  text.replace(UNPRINTABLE, (run) => Array.from(ENCODER.encode(run), escapeOf).join(''));
