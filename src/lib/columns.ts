/** How wide a text is on a terminal, in columns, and how it is made to fit. */

import { stripVTControlCharacters } from 'node:util';

/** Marks and joiners that stand on the character before them. */
const NO_COLUMN = /^[\p{M}\u200b-\u200d\u2060\ufeff]$/u;
/** East Asian Wide and Fullwidth (Unicode, UAX #11), by their blocks, and emoji that are pictures by themselves. */
const TWO_COLUMNS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]$|^\p{Emoji_Presentation}$/u;
/** Most text needs no more than one look. */
const PLAIN = /^[\x20-\x7e]*$/;

const columnsOfCharacter = (character: string): number =>
  NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;

/** The columns of a text; escape sequences take none. */
export const columnsOf = (text: string): number => {
  const shown = stripVTControlCharacters(text);
  if (PLAIN.test(shown)) return shown.length;
  let columns = 0;
  for (const character of shown) columns += columnsOfCharacter(character);
  return columns;
};

/** At most so many columns; what is cut ends with an ellipsis, and loses its colours. */
export const cutTo = (text: string, columnsMax: number): string => {
  if (columnsOf(text) <= columnsMax) return text;
  let cut = '';
  let columns = 0;
  for (const character of stripVTControlCharacters(text)) {
    columns += columnsOfCharacter(character);
    if (columns > columnsMax - 1) break;
    cut += character;
  }
  return columnsMax > 0 ? `${cut}…` : '';
};

/** Exactly so many columns. */
export const padTo = (text: string, columns: number): string => {
  const cut = cutTo(text, columns);
  return cut + ' '.repeat(columns - columnsOf(cut));
};
