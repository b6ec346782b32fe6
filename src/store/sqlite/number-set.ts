/** A set of row numbers, a bit each where they lie close together. */

export interface NumberSet {
  /** True when it was not there before. */
  add(id: number): boolean;
  has(id: number): boolean;
}

/** Numbers that share an array of bits of 8 KiB. */
const NUMBERS_PER_PART = 65_536;

export const createNumberSet = (): NumberSet => {
  const parts = new Map<number, Uint8Array>();
  const has = (id: number): boolean =>
    ((parts.get(Math.floor(id / NUMBERS_PER_PART))?.[(id % NUMBERS_PER_PART) >> 3] ?? 0) & (1 << (id % 8))) !== 0;
  return {
    has,
    add: (id) => {
      if (has(id)) return false;
      const key = Math.floor(id / NUMBERS_PER_PART);
      let part = parts.get(key);
      if (!part) parts.set(key, (part = new Uint8Array(NUMBERS_PER_PART / 8)));
      part[(id % NUMBERS_PER_PART) >> 3]! |= 1 << (id % 8);
      return true;
    },
  };
};
