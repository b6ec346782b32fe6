/**
 * Reads deflate (RFC 1951) as far as it can be read. Node's own decoder is quicker, but gives nothing of a body with a
 * bad byte in it or with more than was asked for: this one gives all that comes before, in slices, in one pass.
 */

import { type Codes, createCodes, readCode } from './huffman.ts';

/** `more`: call again. `short`: the input ended first. `bad`: no deflate from here on. */
export type DeflateState = 'more' | 'end' | 'short' | 'bad';

export interface Deflate {
  /** Reads on until there are so many bytes, or somewhat more, or until its end; after many blocks it rests, too. */
  read(bytes: number): DeflateState;
  /** What was read so far. */
  output(): Uint8Array;
  /** Where the input goes on behind the last block. */
  place(): number;
  /** Reads on with another stream, as behind the first part of a gzip file with several. */
  restart(at: number): void;
}

/** RFC 1951, 3.2.5: a match is no longer than this, and goes no further back than 32 KiB. */
const MATCH_MAX = 258;
const LENGTHS = Uint16Array.of(
  ...[3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31],
  ...[35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258],
);
const LENGTH_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
);
const DISTANCES = Uint16Array.of(
  ...[1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193],
  ...[257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577],
);
const DISTANCE_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13],
);
/** RFC 1951, 3.2.7: the order in which the lengths of the codes for code lengths come. */
const ORDER = Uint8Array.of(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15);
const END_OF_BLOCK = 256;
/** Blocks read in one go: those made to cost time have nothing in them. */
const BLOCKS_PER_READ = 2_000;

interface Pair {
  readonly literals: Codes;
  readonly distances: Codes;
}

/** RFC 1951, 3.2.6. */
const fixedCodes = (): Pair => {
  const lengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  // Two of the 32 distances never occur, but their codes are there.
  return { literals: createCodes(lengths)!, distances: createCodes(new Uint8Array(32).fill(5))! };
};
let fixed: Pair | null = null;

/** Reads `input` from there on. No more than `bytesMax` and one match are ever held. */
export const openDeflate = (input: Uint8Array, from: number, bytesMax: number): Deflate => {
  let out = new Uint8Array(Math.min(bytesMax, 4 * input.length) + MATCH_MAX);
  let length = 0;
  let begin = 0; // of this stream: no match reaches back before it
  let at = from;
  let bits = 0;
  let bitCount = 0;
  let isLast = false;
  let storedLeft = 0;
  let codes: Pair | null = null;

  /** That many bits as a number, 16 at the most; -1 when the input ends first. */
  const take = (count: number): number => {
    while (bitCount < count) {
      if (at >= input.length) return -1;
      bits |= input[at++]! << bitCount;
      bitCount += 8;
    }
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    bitCount -= count;
    return value;
  };

  /** The next symbol; -1 when the input ends first, -2 when there is none. */
  const takeSymbol = (from: Codes): number => {
    while (bitCount < 15 && at < input.length) {
      bits |= input[at++]! << bitCount;
      bitCount += 8;
    }
    const entry = readCode(from, bits);
    const used = entry & 15;
    if (used === 0) return bitCount < 15 ? -1 : -2;
    if (used > bitCount) return -1;
    bits >>>= used;
    bitCount -= used;
    return entry >> 4;
  };

  const grow = (wanted: number): void => {
    if (wanted <= out.length) return;
    const larger = new Uint8Array(Math.min(bytesMax + MATCH_MAX, Math.max(wanted, 2 * out.length)));
    larger.set(out);
    out = larger;
  };

  const beginBlock = (): DeflateState => {
    const head = take(3);
    if (head < 0) return 'short';
    isLast = (head & 1) === 1;
    switch (head >> 1) {
      case 0:
        return beginStored();
      case 1:
        codes = fixed ??= fixedCodes();
        return 'more';
      case 2:
        return beginCoded();
      default:
        return 'bad';
    }
  };

  const beginStored = (): DeflateState => {
    take(bitCount & 7);
    const size = take(16);
    const check = take(16);
    if (size < 0 || check < 0) return 'short';
    if (size !== (~check & 0xffff)) return 'bad';
    storedLeft = size;
    return 'more';
  };

  const beginCoded = (): DeflateState => {
    const literals = take(5) + 257;
    const distances = take(5) + 1;
    const count = take(4) + 4;
    if (count < 4) return 'short';
    if (literals > 286 || distances > 30) return 'bad';
    const orders = new Uint8Array(19);
    for (let n = 0; n < count; n += 1) {
      const size = take(3);
      if (size < 0) return 'short';
      orders[ORDER[n]!] = size;
    }
    const order = createCodes(orders);
    if (order === null) return 'bad';
    const lengths = new Uint8Array(literals + distances);
    for (let n = 0; n < lengths.length; ) {
      const symbol = takeSymbol(order);
      if (symbol < 0) return symbol === -1 ? 'short' : 'bad';
      if (symbol < 16) {
        lengths[n++] = symbol;
        continue;
      }
      if (symbol === 16 && n === 0) return 'bad';
      const repeated = symbol === 16 ? lengths[n - 1]! : 0;
      const more = symbol === 16 ? take(2) : symbol === 17 ? take(3) : take(7);
      if (more < 0) return 'short';
      const times = more + (symbol === 18 ? 11 : 3);
      if (n + times > lengths.length) return 'bad';
      lengths.fill(repeated, n, n + times);
      n += times;
    }
    const pair = {
      literals: createCodes(lengths.subarray(0, literals)),
      distances: createCodes(lengths.subarray(literals)),
    };
    if (lengths[END_OF_BLOCK] === 0 || pair.literals === null || pair.distances === null) return 'bad';
    codes = pair as Pair;
    return 'more';
  };

  const readStored = (to: number): DeflateState => {
    // Whole bytes may have been read ahead as bits.
    while (storedLeft > 0 && bitCount > 0 && length < to) {
      out[length++] = take(8);
      storedLeft -= 1;
    }
    const size = Math.min(storedLeft, to - length, input.length - at);
    out.set(input.subarray(at, at + size), length);
    at += size;
    length += size;
    storedLeft -= size;
    return storedLeft > 0 && length < to ? 'short' : 'more';
  };

  const readCoded = ({ literals, distances }: Pair, to: number): DeflateState => {
    while (length < to) {
      const symbol = takeSymbol(literals);
      if (symbol < 0) return symbol === -1 ? 'short' : 'bad';
      if (symbol < END_OF_BLOCK) {
        out[length++] = symbol;
        continue;
      }
      if (symbol === END_OF_BLOCK) {
        codes = null;
        return 'more';
      }
      if (symbol > 285) return 'bad';
      const moreLength = take(LENGTH_BITS[symbol - 257]!);
      if (moreLength < 0) return 'short';
      const far = takeSymbol(distances);
      if (far < 0) return far === -1 ? 'short' : 'bad';
      if (far > 29) return 'bad';
      const moreDistance = take(DISTANCE_BITS[far]!);
      if (moreDistance < 0) return 'short';
      const distance = DISTANCES[far]! + moreDistance;
      if (distance > length - begin) return 'bad';
      // Byte by byte: a match may reach into itself.
      const end = length + LENGTHS[symbol - 257]! + moreLength;
      for (let copied = length - distance; length < end; length += 1, copied += 1) out[length] = out[copied]!;
    }
    return 'more';
  };

  return {
    read: (bytes) => {
      const to = Math.min(bytes, bytesMax);
      grow(to + MATCH_MAX);
      for (let blocks = 0; length < to && blocks < BLOCKS_PER_READ; ) {
        let state: DeflateState = 'more';
        if (storedLeft > 0) state = readStored(to);
        else if (codes !== null) state = readCoded(codes, to);
        else if (isLast) return 'end';
        else {
          state = beginBlock();
          blocks += 1;
        }
        if (state !== 'more') return state;
      }
      return 'more';
    },
    output: () => out.subarray(0, length),
    place: () => at - (bitCount >> 3),
    restart: (next) => {
      [at, bits, bitCount, isLast, begin] = [next, 0, 0, false, length];
    },
  };
};
