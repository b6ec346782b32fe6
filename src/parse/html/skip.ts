/** Where comments, raw text and scripts end, by the rules of the HTML tokenizer. */

import { isSpace } from './attributes.ts';

const DASH = 45;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const BANG = 33;

/** Behind the comment whose `<!--` ends at `from`. */
export const commentEnd = (source: string, from: number): number => {
  if (source.charCodeAt(from) === GREATER) return from + 1;
  if (source.charCodeAt(from) === DASH && source.charCodeAt(from + 1) === GREATER) return from + 2;
  let at = source.indexOf('--', from);
  while (at >= 0) {
    at += 2;
    while (source.charCodeAt(at) === DASH) at += 1;
    const code = source.charCodeAt(at);
    if (code === GREATER) return at + 1;
    if (code === BANG && source.charCodeAt(at + 1) === GREATER) return at + 2;
    at = source.indexOf('--', at);
  }
  return source.length;
};

/** Behind the next `>`: declarations, processing instructions and what only looks like a tag. */
export const bogusEnd = (source: string, from: number): number => {
  const at = source.indexOf('>', from);
  return at < 0 ? source.length : at + 1;
};

/** Whether this name, in any case and ended as a tag's name is, stands at `at`. */
const isNameAt = (source: string, at: number, name: string): boolean => {
  for (let i = 0; i < name.length; i += 1) {
    if ((source.charCodeAt(at + i) | 32) !== name.charCodeAt(i)) return false;
  }
  const after = source.charCodeAt(at + name.length);
  return after === GREATER || after === SLASH || isSpace(after);
};

/** The place of the `</name` that ends raw text; the end of the page when there is none. */
export const rawTextEnd = (source: string, from: number, name: string): number => {
  let at = source.indexOf('</', from);
  while (at >= 0) {
    if (isNameAt(source, at + 2, name)) return at;
    at = source.indexOf('</', at + 2);
  }
  return source.length;
};

/** Where the content of a script ends; `<!--` in it hides the end tags of scripts that begin after it. */
export const scriptEnd = (source: string, from: number): number => {
  let at = from;
  while (at < source.length) {
    at = source.indexOf('<', at);
    if (at < 0) break;
    if (source.charCodeAt(at + 1) === SLASH && isNameAt(source, at + 2, 'script')) return at;
    if (source.startsWith('!--', at + 1)) {
      const escaped = readEscaped(source, at + 2);
      if (escaped.closed) return escaped.at;
      at = escaped.at;
    } else {
      at += 1;
    }
  }
  return source.length;
};

interface Escaped {
  /** The script ended inside. */
  readonly closed: boolean;
  readonly at: number;
}

/** Reads on from the dashes of `<!--` past `-->`, or to the `</script` that ends the script. */
const readEscaped = (source: string, dashes: number): Escaped => {
  let doubled = false;
  for (let at = dashes; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === GREATER) {
      // The two dashes of `<!--` may be those of `-->` too.
      const ends = at >= dashes + 2 && source.charCodeAt(at - 1) === DASH && source.charCodeAt(at - 2) === DASH;
      if (ends) return { closed: false, at: at + 1 };
    } else if (code === LESS) {
      const closing = source.charCodeAt(at + 1) === SLASH;
      if (isNameAt(source, at + (closing ? 2 : 1), 'script')) {
        if (closing && !doubled) return { closed: true, at };
        doubled = !closing;
      }
    }
  }
  return { closed: true, at: source.length };
};
