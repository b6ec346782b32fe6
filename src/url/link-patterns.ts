/** Patterns of `--include` and `--exclude`: a site or host, a glob, or a regular expression. */

import type { Address } from './canonical.ts';
import { readExcluded } from './seed.ts';

/** `why` completes `--exclude "..." `. */
export type ReadPattern = { readonly matches: (address: Address) => boolean } | { readonly why: string };

/** A list of patterns, as given. */
export interface LinkPatterns {
  /** The first that matches, as it was written; null when none does. */
  match(address: Address): string | null;
}

const REGEXP = /^\/(?<source>.+)\/(?<flags>[a-z]*)$/s;
/** A domain or host, or all below it: no slash, no star but in front. */
const NAME = /^(?:\*\.|\.)?[^*/?]+$/;
const SCHEME = /^https?:\/\//i;

/**
 * `example.org` and `*.example.org`: the host and all below it. `/.../` with flags: a regular expression, looked for in
 * the whole URL. Anything else is a glob in which `*` stands for any text, and which covers the whole of what it is
 * held against: the URL if it begins with a scheme, path and query if it begins with a slash, else all behind the
 * scheme.
 */
export const readPattern = (text: string): ReadPattern => {
  const regexp = REGEXP.exec(text)?.groups;
  if (regexp) return readRegexp(regexp.source!, regexp.flags!);
  if (text.trim() === '') return { why: 'is empty' };
  if (/\s/.test(text)) return { why: 'has white space inside, which no URL has' };
  const glob = globOf(text);
  if (!NAME.test(text) || SCHEME.test(text))
    return text.includes('*') || text.includes('/')
      ? { matches: glob }
      : { why: 'is neither a site nor a glob: write * for any text, as in *word*' };
  const read = readExcluded(text);
  if (read.kind === 'name') {
    const { name } = read;
    const below = `.${name}`;
    const isOfHost = ({ host }: Address): boolean => host === name || host.endsWith(below);
    // *.tar.gz looks like a name with a star in front.
    return { matches: text.startsWith('*') ? (address) => isOfHost(address) || glob(address) : isOfHost };
  }
  return text.includes('*')
    ? { matches: glob }
    : { why: `is neither a site nor a glob: write a domain, or * for any text, as in *${text}*` };
};

const readRegexp = (source: string, flags: string): ReadPattern => {
  try {
    // Without these two it would remember where it was.
    const regexp = new RegExp(source, flags.replaceAll(/[gy]/g, ''));
    return { matches: ({ url }) => regexp.test(url) };
  } catch (error) {
    return {
      why: `is no regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}`,
    };
  }
};

const globOf = (text: string): ((address: Address) => boolean) => {
  if (text.startsWith('/')) return ({ path }) => covers(text, path);
  // Scheme and host are lower case in every address.
  if (SCHEME.test(text)) {
    const written = text.replace(/^[^/]*\/\/[^/]*/, (start) => start.toLowerCase());
    return ({ url }) => covers(written, url);
  }
  const written = text.replace(/^[^/]*/, (start) => start.toLowerCase());
  return ({ url }) => covers(written, url.slice(url.indexOf('/') + 2));
};

/** Between two stars the leftmost place is as good as any other: linear on any text. */
const covers = (glob: string, text: string): boolean => {
  const parts = glob.split('*');
  const first = parts.shift()!;
  if (parts.length === 0) return text === first;
  const last = parts.pop()!;
  if (!text.startsWith(first)) return false;
  let reached = first.length;
  for (const part of parts) {
    const at = text.indexOf(part, reached);
    if (at < 0) return false;
    reached = at + part.length;
  }
  return text.length - last.length >= reached && text.endsWith(last);
};

/** Patterns that were read before; null when there are none, so that links cost nothing then. */
export const createPatterns = (texts: readonly string[]): LinkPatterns | null => {
  if (texts.length === 0) return null;
  const patterns = texts.flatMap((text) => {
    const read = readPattern(text);
    return 'why' in read ? [] : [{ text, matches: read.matches }];
  });
  return { match: (address) => patterns.find(({ matches }) => matches(address))?.text ?? null };
};
