/** EUC-KR as the web has it: with all 11,172 Hangul syllables, as in windows-949 (Encoding Standard, 14.1). */

import { createTwoByteDecoder, type Decoder, type Pairs } from './two-bytes.ts';

const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
/** From here on, lead and trail, pairs are those of KS X 1001, which Node knows. */
const KS_MIN = 0xa1;

/** Trail bytes of the pairs before and between those of KS X 1001: letters, then all with the high bit. */
const isTrail = (byte: number): boolean =>
  (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte >= 0x81;

/**
 * Node knows the 2,350 syllables of KS X 1001. The other 8,822 are in the order of Unicode in the pairs that KS X 1001
 * leaves free, so a rule stands for their table.
 */
const setRight = (pairs: Pairs): void => {
  const taken = new Set<string>();
  for (let lead = KS_MIN; lead <= 0xfe; lead += 1)
    for (let trail = KS_MIN; trail <= 0xfe; trail += 1) taken.add(pairs.get(lead, trail));

  let syllable = FIRST_SYLLABLE;
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    const trailMax = lead < KS_MIN ? 0xfe : KS_MIN - 1;
    for (let trail = 0x40; trail <= trailMax; trail += 1) {
      while (taken.has(String.fromCharCode(syllable))) syllable += 1;
      const isFree = isTrail(trail) && syllable <= LAST_SYLLABLE;
      pairs.set(lead, trail, isFree ? String.fromCharCode(syllable++) : '');
    }
  }
  pairs.set(0xa2, 0xe6, '€');
  pairs.set(0xa2, 0xe7, '®');
};

export const EUC_KR: Decoder = createTwoByteDecoder('euc-kr', setRight);
