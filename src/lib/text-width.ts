/** How many columns of a terminal a text takes, and how it is cut to fewer. */

import { stripVTControlCharacters } from 'node:util';

/** Takes one column each, as nearly all text does. */
const PLAIN = /^[\x20-\x7e\u00a0-\u02ff\u2010-\u2027]*$/;

/** Drawn over the character before them, or not at all. */
const NONE = /^[\p{Mn}\p{Me}\u200b-\u200f\u2060\ufeff]$/u;

/**
 * East Asian Wide and Fullwidth (Unicode, UAX #11), and what is shown as an emoji: two columns each. An emoji of
 * several code points counts as all of them: not every terminal joins them, and a line that wraps is worse than a
 * short one.
 */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]$/u;

export const ELLIPSIS = '…';

/** Which part of a text is left out where it is too long. */
export type CutAt = 'start' | 'middle' | 'end';

/** Escape sequences take no column. */
const shown = (text: string): string => (text.includes('\x1b') ? stripVTControlCharacters(text) : text);

export const widthOf = (text: string): number => {
  const plain = shown(text);
  if (PLAIN.test(plain)) return plain.length;
  let width = 0;
  for (const character of plain) width += widthOfCharacter(character);
  return width;
};

/** Makes the character before it an emoji, which is wide. */
const EMOJI_SELECTOR = '\ufe0f';

const widthOfCharacter = (character: string): number => {
  if (character === EMOJI_SELECTOR) return 1;
  return NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
};

/** The text if it fits so many columns; otherwise what fits of it, without colours, with an ellipsis for the rest. */
export const cutToWidth = (text: string, columns: number, at: CutAt = 'end'): string => {
  if (text.length * 2 <= columns || widthOf(text) <= columns) return text;
  const room = Math.max(0, columns - 1);
  if (columns < 1) return '';
  const behind = at === 'start' ? room : at === 'middle' ? Math.floor(room / 2) : 0;
  const plain = shown(text);
  return `${headOf(plain, room - behind)}${ELLIPSIS}${tailOf(plain, behind)}`;
};

/** Padded with spaces to so many columns. */
export const padToWidth = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

/** Exactly so many columns. */
export const fitToWidth = (text: string, columns: number): string => padToWidth(cutToWidth(text, columns), columns);

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

const headOf = (text: string, columns: number): string => {
  let head = '';
  let width = 0;
  // No more characters fit than columns, but for marks, which come with the one that they are drawn on.
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    head += segment;
  }
  return head;
};

/** Characters of a long text that are looked at for its end: far more than a terminal has columns. */
const TAIL_CHARS = 2_000;

const tailOf = (text: string, columns: number): string => {
  const segments = Array.from(GRAPHEMES.segment(text.slice(-TAIL_CHARS)), ({ segment }) => segment);
  let from = segments.length;
  let width = 0;
  while (from > 0) {
    width += widthOf(segments[from - 1]!);
    if (width > columns) break;
    from--;
  }
  return segments.slice(from).join('');
};
