/** Big5 as the web has it: with the characters of Hong Kong (Encoding Standard, 12.1). */

import { BIG5_INDEX } from './big5-index.ts';
import { createTwoByteDecoder, type Decoder, type Pairs } from './two-bytes.ts';

/** Encoding Standard, 12.1.1: pointers that mean two characters, and so are in no index. */
const TWO_CHARACTERS: readonly (readonly [pointer: number, text: string])[] = [
  [1133, '\u00ca\u0304'],
  [1135, '\u00ca\u030c'],
  [1164, '\u00ea\u0304'],
  [1166, '\u00ea\u030c'],
];

const setRight = (pairs: Pairs): void => {
  for (const [pointer, text] of TWO_CHARACTERS) setAt(pairs, pointer, text);
  for (const [first, characters] of BIG5_INDEX)
    Array.from(characters).forEach((character, n) => {
      setAt(pairs, first + n, character);
    });
};

const setAt = (pairs: Pairs, pointer: number, text: string): void => {
  const offset = pointer % 157;
  pairs.set(0x81 + Math.floor(pointer / 157), offset + (offset < 0x3f ? 0x40 : 0x62), text);
};

export const BIG5: Decoder = createTwoByteDecoder('big5', setRight);
