/** Is the authority of a raw address longer than any that DNS can carry? Asked before it is parsed. */

/**
 * A name has 253 characters at the most (RFC 1035, 2.3.4); what is written before it, user and password, seldom has
 * more. Parsing names of other scripts takes time that grows with the square of their length: 4,000 characters take a
 * tenth of a second, 300 half a millisecond.
 */
const AUTHORITY_CHARS_MAX = 1_000;
const FOREIGN_CHARS_MAX = 300;

/** The URL standard drops these wherever they stand. */
const DROPPED = /[\t\n\r]+/g;
/** A scheme, then any number of slashes; or two slashes and more. */
const BEFORE_AUTHORITY = /^[\0-\x20]*(?:[a-z][a-z0-9+.-]*:[/\\]*|[/\\]{2,})/i;
const FOREIGN = /[^\x21-\x7e]|%|xn--/i;

export const hasEndlessAuthority = (raw: string): boolean => {
  if (raw.length <= FOREIGN_CHARS_MAX) return false;
  const text = raw.replace(DROPPED, '');
  const before = BEFORE_AUTHORITY.exec(text);
  if (before === null) return false;
  const rest = text.slice(before[0].length);
  const end = rest.search(/[/\\?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  return authority.length > (FOREIGN.test(authority) ? FOREIGN_CHARS_MAX : AUTHORITY_CHARS_MAX);
};
