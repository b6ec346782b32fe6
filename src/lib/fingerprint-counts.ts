/** How often each of many fingerprints was met: about 20 bytes for each that was. */

/** Above this, runs of full slots get long. */
const LOAD_MAX = 0.7;
const SLOTS_MIN = 1_024;

export interface FingerprintCounts {
  add(fp: bigint): void;
  /** 0 for one that was never met. */
  get(fp: bigint): number;
}

export const createFingerprintCounts = (): FingerprintCounts => {
  let keys = new BigUint64Array(SLOTS_MIN);
  let counts = new Uint32Array(SLOTS_MIN);
  let used = 0;

  /** The slot of a fingerprint, or the empty one where it belongs: a count of 0 says that it is empty. */
  const slotOf = (fp: bigint): number => {
    let slot = Number(fp % BigInt(keys.length));
    while (counts[slot] !== 0 && keys[slot] !== fp) slot = slot + 1 === keys.length ? 0 : slot + 1;
    return slot;
  };

  const grow = (): void => {
    const [oldKeys, oldCounts] = [keys, counts];
    keys = new BigUint64Array(2 * oldKeys.length);
    counts = new Uint32Array(keys.length);
    for (let i = 0; i < oldKeys.length; i++) {
      if (oldCounts[i] === 0) continue;
      const slot = slotOf(oldKeys[i]!);
      keys[slot] = oldKeys[i]!;
      counts[slot] = oldCounts[i]!;
    }
  };

  return {
    add: (fp) => {
      let slot = slotOf(fp);
      if (counts[slot] === 0) {
        if (used + 1 > keys.length * LOAD_MAX) {
          grow();
          slot = slotOf(fp);
        }
        keys[slot] = fp;
        used++;
      }
      counts[slot]!++;
    },
    get: (fp) => counts[slotOf(fp)]!,
  };
};
