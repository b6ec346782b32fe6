/** The prefix codes of deflate: which symbol the next bits stand for (RFC 1951, 3.2.2). */

/** Codes up to this length are looked up at once; longer ones, which are rare, are followed bit by bit. */
const QUICK_BITS = 10;
const LENGTH_MAX = 15;

export interface Codes {
  /** By the next bits: the symbol and, in the lowest four bits, the length of its code; 0 for a longer one. */
  readonly quick: Uint16Array;
  /** How many codes of each length there are. */
  readonly counts: Uint16Array;
  /** The symbols in the order of their codes. */
  readonly symbols: Uint16Array;
}

/** Null when no such codes can be: too many for their lengths, or too few. */
export const createCodes = (lengths: Uint8Array): Codes | null => {
  const counts = new Uint16Array(LENGTH_MAX + 1);
  for (const length of lengths) counts[length]! += 1;
  counts[0] = 0;
  let left = 1;
  let longest = 0;
  for (let length = 1; length <= LENGTH_MAX; length += 1) {
    left = left * 2 - counts[length]!;
    if (left < 0) return null;
    if (counts[length]! > 0) longest = length;
  }
  // RFC 1951, 3.2.7: one symbol alone has a code of one bit, and the other bit means nothing.
  if (left > 0 && longest > 1) return null;

  const places = new Uint16Array(LENGTH_MAX + 2);
  const nextCodes = new Uint16Array(LENGTH_MAX + 2);
  for (let length = 1; length <= LENGTH_MAX; length += 1) {
    places[length + 1] = places[length]! + counts[length]!;
    nextCodes[length + 1] = (nextCodes[length]! + counts[length]!) << 1;
  }
  const symbols = new Uint16Array(lengths.length);
  const quick = new Uint16Array(1 << QUICK_BITS);
  for (let symbol = 0; symbol < lengths.length; symbol += 1) {
    const length = lengths[symbol]!;
    if (length === 0) continue;
    symbols[places[length]!++] = symbol;
    const code = nextCodes[length]!++;
    if (length > QUICK_BITS) continue;
    for (let at = reversed(code, length); at < quick.length; at += 1 << length) quick[at] = (symbol << 4) | length;
  }
  return { quick, counts, symbols };
};

/** Codes come with their highest bit first, and bits are read from the lowest on. */
const reversed = (code: number, length: number): number => {
  let out = 0;
  for (let bit = 0; bit < length; bit += 1) out |= ((code >> bit) & 1) << (length - 1 - bit);
  return out;
};

/** The symbol and, in the lowest four bits, the length of the code that these bits begin with; 0 for none. */
export const readCode = ({ quick, counts, symbols }: Codes, bits: number): number => {
  const entry = quick[bits & ((1 << QUICK_BITS) - 1)]!;
  if (entry !== 0) return entry;
  let code = 0;
  let first = 0;
  let place = 0;
  for (let length = 1; length <= LENGTH_MAX; length += 1) {
    code |= (bits >> (length - 1)) & 1;
    const count = counts[length]!;
    if (code - first < count) return (symbols[place + code - first]! << 4) | length;
    place += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  return 0;
};
