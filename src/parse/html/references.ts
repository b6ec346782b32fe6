/** Character references: `&amp;`, `&#8364;`, `&copy` and the rules for reading them. */

import { PACKED_ENTITIES } from './entities.ts';

const NAME_CHARS_MAX = 31; // CounterClockwiseContourIntegral, the longest of the standard
const LEGACY_CHARS_MAX = 6; // `Aacute` and its like: the longest that work without a semicolon
const LEGACY_CHARS_MIN = 2; // `lt`
const CODE_POINT_MAX = 0x10ffff;
const REPLACEMENT = '\ufffd';

const HASH = 35;
const SEMICOLON = 59;
const EQUALS = 61;

/** HTML standard, numeric character reference end state: what windows-1252 has at 0x80 to 0x9f. */
const REMAPPED =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

interface Entities {
  readonly all: ReadonlyMap<string, string>;
  readonly legacy: ReadonlyMap<string, string>;
}

const unpack = (): Entities => {
  const all = new Map<string, string>();
  const legacy = new Map<string, string>();
  for (const entry of PACKED_ENTITIES.trim().split(/\s/)) {
    const at = entry.search(/[=!]/);
    const name = entry.slice(0, at);
    const codes = entry
      .slice(at + 1)
      .split('+')
      .map((code) => parseInt(code, 36));
    const text = String.fromCodePoint(...codes);
    all.set(name, text);
    if (entry[at] === '!') legacy.set(name, text);
  }
  return { all, legacy };
};

const ENTITIES = unpack();

const isAlphanumeric = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);

/** A reference that was read: what it stands for and where it ends. One object, filled anew each time. */
export interface Reference {
  text: string;
  end: number;
}

export const createReference = (): Reference => ({ text: '', end: 0 });

/** Reads the reference at the `&` in `at`; false when it is only an ampersand. */
export const readReference = (source: string, at: number, into: Reference): boolean =>
  source.charCodeAt(at + 1) === HASH ? readNumber(source, at + 2, into) : readName(source, at + 1, into);

const readName = (source: string, start: number, into: Reference): boolean => {
  let end = start;
  const limit = Math.min(source.length, start + NAME_CHARS_MAX);
  while (end < limit && isAlphanumeric(source.charCodeAt(end))) end += 1;
  if (source.charCodeAt(end) === SEMICOLON) {
    const text = ENTITIES.all.get(source.slice(start, end));
    if (text !== undefined) return fill(into, text, end + 1);
  }
  const longest = Math.min(end, start + LEGACY_CHARS_MAX);
  for (let stop = longest; stop >= start + LEGACY_CHARS_MIN; stop -= 1) {
    const text = ENTITIES.legacy.get(source.slice(start, stop));
    if (text !== undefined) return fill(into, text, stop);
  }
  return false;
};

const readNumber = (source: string, start: number, into: Reference): boolean => {
  const hex = (source.charCodeAt(start) | 32) === 120;
  const first = hex ? start + 1 : start;
  const radix = hex ? 16 : 10;
  let value = 0;
  let at = first;
  for (; at < source.length; at += 1) {
    const digit = digitOf(source.charCodeAt(at));
    if (digit >= radix) break;
    value = Math.min(value * radix + digit, CODE_POINT_MAX + 1);
  }
  if (at === first) return false;
  const end = source.charCodeAt(at) === SEMICOLON ? at + 1 : at;
  return fill(into, characterOf(value), end);
};

const digitOf = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : 99;
};

const characterOf = (value: number): string => {
  if (value === 0 || value > CODE_POINT_MAX || (value >= 0xd800 && value <= 0xdfff)) return REPLACEMENT;
  if (value >= 0x80 && value <= 0x9f) return REMAPPED.charAt(value - 0x80);
  return String.fromCodePoint(value);
};

const fill = (into: Reference, text: string, end: number): true => {
  into.text = text;
  into.end = end;
  return true;
};

/** All references of an attribute value decoded: there, `&copy=1` is part of an address and stays. */
export const decodeAttribute = (value: string): string =>
  decode(
    value,
    (end) =>
      value.charCodeAt(end - 1) !== SEMICOLON &&
      (value.charCodeAt(end) === EQUALS || isAlphanumeric(value.charCodeAt(end))),
  );

/** All references of a text decoded. */
export const decodeText = (value: string): string => decode(value, () => false);

const decode = (value: string, literal: (end: number) => boolean): string => {
  let at = value.indexOf('&');
  if (at < 0) return value;
  const reference = createReference();
  let out = '';
  let kept = 0;
  while (at >= 0) {
    let next = at + 1;
    const numeric = value.charCodeAt(next) === HASH;
    if (readReference(value, at, reference) && (numeric || !literal(reference.end))) {
      out += value.slice(kept, at) + reference.text;
      next = kept = reference.end;
    }
    at = value.indexOf('&', next);
  }
  return out + value.slice(kept);
};
