/** Text from elsewhere, as it may be shown: a terminal takes control characters for commands, a reader is misled. */

/**
 * C0, DEL and C1 can move a cursor, name a window or type an answer; bidirectional controls (Unicode, UAX #9) show a
 * line in another order than it has; line and paragraph separators break one.
 */
const BEYOND_C0 = '\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
const ANY = new RegExp(`[\\x00-\\x1f${BEYOND_C0}]`, 'g');
/** Tabs and line ends stay; a carriage return alone would let a line be written over. */
const BUT_LINES = new RegExp(`[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f${BEYOND_C0}]|\\r(?!\\n)`, 'g');

const hexOf = (character: string): string => character.charCodeAt(0).toString(16);
const escapeOf = (character: string): string => `\\u{${hexOf(character)}}`;

/** One line: whatever is not a visible character becomes an escape such as `\u{1b}`. */
export const visible = (text: string): string => text.replace(ANY, escapeOf);

/** Text of several lines, which stay lines: any other character that cannot be seen becomes an escape. */
export const visibleLines = (text: string): string => text.replace(BUT_LINES, escapeOf);

/** JSON that says the same, without characters that cannot be seen. */
export const visibleJson = (json: string): string =>
  json.replace(BUT_LINES, (character) => `\\u${hexOf(character).padStart(4, '0')}`);
