/** The tags of XML and what stands between them, read from the first character to the last, whatever is broken. */

import { tidyHref } from './hrefs.ts';
import { decodeAttribute } from './html/references.ts';
import { bogusEnd, commentEnd } from './html/skip.ts';

/** Longer addresses are never admitted, whatever is taken off them. */
export const ADDRESS_CHARS_MAX = 8_000;

/** No name that means something here is longer. */
const NAME_CHARS_MAX = 64;

export const SLASH = 47;

const CDATA = '<![CDATA[';

export interface Name {
  readonly prefix: string;
  readonly local: string;
}

export interface XmlTag extends Name {
  readonly closes: boolean;
  /** Just behind the name. */
  readonly nameEnd: number;
}

export interface Address {
  /** Empty when there is none, it is too long, or its end is missing. */
  readonly href: string;
  readonly end: number;
}

/** The place of the next `<` that begins a tag, or -1: comments, marked sections, declarations are passed over. */
export const nextTag = (text: string, from: number): number => {
  let at = text.indexOf('<', from);
  while (at >= 0) {
    const skipped = skipNoTag(text, at);
    if (skipped < 0) return at;
    at = text.indexOf('<', skipped);
  }
  return -1;
};

/** Behind the comment, marked section, declaration or instruction at `at`; -1 when a tag is there. */
const skipNoTag = (text: string, at: number): number => {
  if (text.startsWith('<!--', at)) return commentEnd(text, at + 4);
  if (text.startsWith(CDATA, at)) return cdataEnd(text, at) + 3;
  const next = text.charCodeAt(at + 1);
  return next === 33 || next === 63 ? bogusEnd(text, at + 2) : -1; // ! and ?
};

const cdataEnd = (text: string, at: number): number => {
  const close = text.indexOf(']]>', at + CDATA.length);
  return close < 0 ? text.length : close;
};

/** The tag whose `<` stands at `at`. */
export const tagAt = (text: string, at: number): XmlTag => {
  const closes = text.charCodeAt(at + 1) === SLASH;
  const from = closes ? at + 2 : at + 1;
  const name = /^[^\s/>]*/.exec(text.slice(from, from + NAME_CHARS_MAX))?.[0] ?? '';
  const colon = name.indexOf(':');
  const nameEnd = from + name.length;
  return { prefix: name.slice(0, Math.max(0, colon)), local: name.slice(colon + 1), closes, nameEnd };
};

export const isSameName = (one: Name | null, other: Name): boolean =>
  one?.local === other.local && one.prefix === other.prefix;

/** The address that is the text of an element, from the end of its start tag to its next tag. */
export const readAddress = (text: string, from: number): Address => {
  let href = '';
  let chars = 0;
  const add = (start: number, end: number, decode: (piece: string) => string): void => {
    chars += end - start;
    if (chars <= ADDRESS_CHARS_MAX) href += decode(text.slice(start, end));
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
    else return { href: chars > ADDRESS_CHARS_MAX ? '' : tidyHref(href.trim()), end: next }; // U+00A0 too
  }
};

const asItIs = (piece: string): string => piece;
