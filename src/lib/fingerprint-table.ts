/**
 * A set of 64-bit fingerprints in shared memory, at about 12 bytes each.
 *
 * Open addressing with linear probing over 64 segments; the top bits of a fingerprint choose its
 * segment. A segment grows by half when four fifths of it are full, so between two growths its load
 * is between 0.53 and 0.8, and an entry costs between 8 / 0.8 = 10 and 8 / 0.53 = 15 bytes. The
 * segments start at sizes spread evenly (by factor) between two growths, so at any moment some have
 * just grown and some are about to: the average over the spread is 8 / ln 1.5 x (1 / 0.53 - 1 / 0.8)
 * = 12.3 bytes. A growth copies one 64th of the table, and only that much exists twice.
 */

const SEGMENTS = 64;
const SEGMENT_SHIFT = 26; // the top 6 of the high 32 bits
/** Above this, runs of full slots get long: a miss looks at 13 slots here, at 22 with 0.85. */
const LOAD_MAX = 0.8;
const GROWTH = 1.5;
const SLOTS_MIN = 8;
/** Entries expected when nobody says: 13 KB for an empty table. */
const EXPECTED_DEFAULT = 1_024;

/** What is sent to another thread. Plain, and cheap to clone: the memory itself is shared. */
export interface SharedFingerprints {
  readonly segments: readonly SharedArrayBuffer[];
  readonly hasZero: boolean;
  readonly size: number;
}

export interface FingerprintView {
  has(fp: bigint): boolean;
  readonly size: number;
  /** Bytes of memory held. */
  readonly bytes: number;
}

export interface FingerprintTable extends FingerprintView {
  /** True when it was not there before. */
  add(fp: bigint): boolean;
  /** Take one back; true when it was there. */
  remove(fp: bigint): boolean;
  /** For `openFingerprintTable`. Whoever opens it sees a true set only while no more is added or removed. */
  readonly shared: SharedFingerprints;
}

/** Two numbers a slot, low and high half; both 0 is an empty slot, and the fingerprint 0 is a flag beside. */
interface Segment {
  slots: Uint32Array<SharedArrayBuffer>;
  capacity: number;
  used: number;
}

// A bigint is written here once and read as two numbers: bigint arithmetic allocates.
const scratch = new BigUint64Array(1);
const halves = new Uint32Array(scratch.buffer);

/** Where a low half would like to lie. Any capacity will do, and growing keeps the order of the slots. */
const homeOf = (low: number, capacity: number): number => Math.floor((low / 2 ** 32) * capacity);

/** The slot that holds it, or the bitwise complement of the empty slot where it belongs. */
const find = (segment: Segment, low: number, high: number): number => {
  const { slots, capacity } = segment;
  for (let slot = homeOf(low, capacity); ; slot = slot + 1 === capacity ? 0 : slot + 1) {
    const lowThere = slots[2 * slot];
    const highThere = slots[2 * slot + 1];
    if (lowThere === low && highThere === high) return slot;
    if (lowThere === 0 && highThere === 0) return ~slot;
  }
};

const put = (segment: Segment, slot: number, half: { low: number; high: number }): void => {
  segment.slots[2 * slot] = half.low;
  segment.slots[2 * slot + 1] = half.high;
};

const emptySegment = (capacity: number): Segment => ({
  slots: new Uint32Array(new SharedArrayBuffer(capacity * 8)),
  capacity,
  used: 0,
});

const grown = (old: Segment): Segment => {
  const segment = emptySegment(Math.ceil(old.capacity * GROWTH));
  for (let slot = 0; slot < old.capacity; slot += 1) {
    const low = old.slots[2 * slot] ?? 0;
    const high = old.slots[2 * slot + 1] ?? 0;
    if (low === 0 && high === 0) continue;
    put(segment, ~find(segment, low, high), { low, high });
  }
  segment.used = old.used;
  return segment;
};

/** Empty a slot and close the gap: what follows in the run moves up, so that no search stops too early. */
const clear = (segment: Segment, slot: number): void => {
  const { slots, capacity } = segment;
  let gap = slot;
  for (let next = (gap + 1) % capacity; ; next = (next + 1) % capacity) {
    const low = slots[2 * next] ?? 0;
    const high = slots[2 * next + 1] ?? 0;
    if (low === 0 && high === 0) break;
    const home = homeOf(low, capacity);
    // It may fill the gap only if that is not before its home, counted around the ring.
    if ((next - home + capacity) % capacity < (next - gap + capacity) % capacity) continue;
    put(segment, gap, { low, high });
    gap = next;
  }
  put(segment, gap, { low: 0, high: 0 });
};

const bytesOf = (segments: readonly Segment[]): number =>
  segments.reduce((sum, segment) => sum + segment.slots.byteLength, 0);

const viewOf =
  (segments: readonly Segment[], hasZero: () => boolean): ((fp: bigint) => boolean) =>
  (fp) => {
    scratch[0] = fp;
    const low = halves[0] ?? 0;
    const high = halves[1] ?? 0;
    if (low === 0 && high === 0) return hasZero();
    const segment = segments[high >>> SEGMENT_SHIFT];
    return segment !== undefined && find(segment, low, high) >= 0;
  };

export const createFingerprintTable = (expected: number = EXPECTED_DEFAULT): FingerprintTable => {
  const least = Math.max(expected, EXPECTED_DEFAULT) / SEGMENTS / LOAD_MAX;
  return tableOf(
    Array.from({ length: SEGMENTS }, (_, i) =>
      emptySegment(Math.max(SLOTS_MIN, Math.ceil(least * GROWTH ** (i / SEGMENTS)))),
    ),
    false,
  );
};

/** The table whose `shared` this was, in memory that nobody else has. */
export const restoreFingerprintTable = ({
  segments,
  hasZero,
}: Pick<SharedFingerprints, 'segments' | 'hasZero'>): FingerprintTable => {
  if (segments.length !== SEGMENTS) throw new RangeError(`a table has ${SEGMENTS} segments, not ${segments.length}`);
  return tableOf(
    segments.map((buffer) => {
      const slots = new Uint32Array(buffer);
      let used = 0;
      for (let i = 0; i < slots.length; i += 2) if (slots[i] !== 0 || slots[i + 1] !== 0) used += 1;
      return { slots, capacity: slots.length / 2, used };
    }),
    hasZero,
  );
};

const tableOf = (segments: Segment[], zero: boolean): FingerprintTable => {
  let hasZero = zero;
  let size = segments.reduce((sum, { used }) => sum + used, zero ? 1 : 0);

  const add = (fp: bigint): boolean => {
    scratch[0] = fp;
    const low = halves[0] ?? 0;
    const high = halves[1] ?? 0;
    if (low === 0 && high === 0) {
      if (hasZero) return false;
      hasZero = true;
      size += 1;
      return true;
    }
    const at = high >>> SEGMENT_SHIFT;
    let segment = segments[at] as Segment;
    let slot = find(segment, low, high);
    if (slot >= 0) return false;
    if (segment.used + 1 > segment.capacity * LOAD_MAX) {
      segment = segments[at] = grown(segment);
      slot = find(segment, low, high);
    }
    segment.slots[2 * ~slot] = low;
    segment.slots[2 * ~slot + 1] = high;
    segment.used += 1;
    size += 1;
    return true;
  };

  const remove = (fp: bigint): boolean => {
    scratch[0] = fp;
    const low = halves[0] ?? 0;
    const high = halves[1] ?? 0;
    if (low === 0 && high === 0) {
      if (!hasZero) return false;
      hasZero = false;
    } else {
      const segment = segments[high >>> SEGMENT_SHIFT] as Segment;
      const slot = find(segment, low, high);
      if (slot < 0) return false;
      clear(segment, slot);
      segment.used -= 1;
    }
    size -= 1;
    return true;
  };

  return {
    has: viewOf(segments, () => hasZero),
    add,
    remove,
    get size() {
      return size;
    },
    get bytes() {
      return bytesOf(segments);
    },
    get shared() {
      return { segments: segments.map((segment) => segment.slots.buffer), hasZero, size };
    },
  };
};

/** A read-only view of a table that another thread made and that no longer changes. */
export const openFingerprintTable = (shared: SharedFingerprints): FingerprintView => {
  const segments = shared.segments.map((buffer): Segment => {
    const slots = new Uint32Array(buffer);
    return { slots, capacity: slots.length / 2, used: 0 };
  });
  return { has: viewOf(segments, () => shared.hasZero), size: shared.size, bytes: bytesOf(segments) };
};
