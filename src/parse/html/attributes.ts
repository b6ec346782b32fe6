/** Reads the rest of a tag: where it ends, and the few attributes that matter. */

import { decodeAttribute } from './references.ts';

export const HREF = 0;
export const REL = 1;
export const LANG = 2;
export const XML_LANG = 3;
export const NAME = 4;
export const CONTENT = 5;
export const XLINK_HREF = 6;
export const ENCODING = 7;
export const FONT = 8;
export const SHADOW_ROOT = 9;
export const CHARSET = 10;
export const HTTP_EQUIV = 11;
export const TYPE = 12;
export const SRC = 13;
export const PERMALINK = 14;
export const XML_BASE = 15;
const SLOTS = 16;

const SLOT_OF: ReadonlyMap<string, number> = new Map([
  ['href', HREF],
  ['rel', REL],
  ['lang', LANG],
  ['xml:lang', XML_LANG],
  ['name', NAME],
  ['content', CONTENT],
  ['xlink:href', XLINK_HREF],
  ['encoding', ENCODING],
  ['color', FONT],
  ['face', FONT],
  ['size', FONT],
  ['shadowrootmode', SHADOW_ROOT],
  ['charset', CHARSET],
  ['http-equiv', HTTP_EQUIV],
  ['type', TYPE],
  ['src', SRC],
  ['ispermalink', PERMALINK],
  ['xml:base', XML_BASE],
]);

const SLOT_NAME_CHARS_MAX = 14; // shadowrootmode

/** The tag that was read last. One object, filled anew for each tag. */
export interface Attributes {
  readonly source: string;
  /** Just after the `>`; -1 when the page ended first, which makes it no tag at all. */
  end: number;
  selfClosing: boolean;
  hidden: boolean;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export const createAttributes = (source: string): Attributes => ({
  source,
  end: 0,
  selfClosing: false,
  hidden: false,
  starts: new Int32Array(SLOTS),
  ends: new Int32Array(SLOTS),
});

const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;

export const isSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 9 || code === 13 || code === 12;

/** Reads on from the end of the tag's name; with `keep`, notes where the values in the slots are. */
export const readAttributes = (into: Attributes, from: number, keep: boolean): void => {
  const { source, starts, ends } = into;
  const length = source.length;
  into.end = -1;
  into.selfClosing = false;
  into.hidden = false;
  if (keep) starts.fill(-1);
  let at = from;
  while (at < length) {
    const code = source.charCodeAt(at);
    if (code === GREATER) {
      into.end = at + 1;
      return;
    }
    if (isSpace(code)) {
      at += 1;
      continue;
    }
    if (code === SLASH) {
      at += 1;
      if (source.charCodeAt(at) === GREATER) into.selfClosing = true;
      continue;
    }
    const nameStart = at;
    at = nameEnd(source, at + 1); // the first character belongs to the name even when it is `=`
    const nameStop = at;
    while (at < length && isSpace(source.charCodeAt(at))) at += 1;
    let valueStart = nameStop;
    let valueStop = nameStop;
    if (source.charCodeAt(at) === EQUALS) {
      at += 1;
      while (at < length && isSpace(source.charCodeAt(at))) at += 1;
      const quote = source.charCodeAt(at);
      if (quote === 34 || quote === 39) {
        valueStart = at + 1;
        valueStop = source.indexOf(quote === 34 ? '"' : "'", valueStart);
        if (valueStop < 0) return;
        at = valueStop + 1;
      } else {
        valueStart = at;
        at = unquotedEnd(source, at);
        valueStop = at;
      }
    }
    const slot = keep ? slotOf(source, nameStart, nameStop) : -1;
    if (slot >= 0 && starts[slot] === -1) {
      // of two with one name the first counts
      starts[slot] = valueStart;
      ends[slot] = valueStop;
    }
    if (nameStop - nameStart === 6 && isHidden(source, nameStart)) into.hidden = true;
  }
};

const slotOf = (source: string, start: number, stop: number): number => {
  if (stop - start > SLOT_NAME_CHARS_MAX) return -1;
  return SLOT_OF.get(source.slice(start, stop).toLowerCase()) ?? -1;
};

const nameEnd = (source: string, from: number): number => {
  let at = from;
  for (; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === EQUALS || code === GREATER || code === SLASH || isSpace(code)) break;
  }
  return at;
};

const unquotedEnd = (source: string, from: number): number => {
  let at = from;
  for (; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === GREATER || isSpace(code)) break;
  }
  return at;
};

const isHidden = (source: string, start: number): boolean =>
  (source.charCodeAt(start) | 32) === 104 && source.slice(start, start + 6).toLowerCase() === 'hidden';

export const has = (tag: Attributes, slot: number): boolean => tag.starts[slot] !== -1;

/** The value in a slot, its references decoded; empty when there is none. */
export const attributeValue = (tag: Attributes, slot: number): string => {
  const start = tag.starts[slot] ?? -1;
  if (start < 0) return '';
  const value = decodeAttribute(tag.source.slice(start, tag.ends[slot]));
  // HTML standard, attribute value states: U+0000 reads as U+FFFD.
  return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
};
