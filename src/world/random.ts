/** Chance that can be repeated: numbers that follow from a key alone. */

/** Scatters a 32-bit number so that neighbours share nothing. */
const scatter = (n: number): number => {
  let x = n | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
};

/** One 32-bit number for a pair of numbers. */
export const mix = (a: number, b: number): number => scatter(Math.imul(a | 0, 0x9e3779b1) ^ scatter(b + 0x51ed27));

/** Draws whole numbers from 0 up to but without `below`; the same key gives the same row of them. */
export type Dice = (below: number) => number;

export const diceFor = (key: number): Dice => {
  let state = key | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    return Math.floor((scatter(state) / 2 ** 32) * below);
  };
};

export const pick = <T>(list: readonly T[], number: number): T => list[number % list.length] as T;
