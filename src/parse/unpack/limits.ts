/** How far a body is unpacked, and how that ended. */

/**
 * `whole`: with all there was. `full`: there was more than the ceiling allows. `late`: its time was up. `broken`: the
 * coding is unknown, or the bytes do not keep to it. What could be read until then was.
 */
export type UnpackEnd = 'whole' | 'full' | 'late' | 'broken';

export interface Unpacked {
  readonly bytes: Uint8Array;
  readonly end: UnpackEnd;
}

export interface UnpackLimits {
  readonly bytesMax: number;
  /** Whether its time is up; asked between two steps of work on a body that Node cannot unpack at once. */
  readonly isLate?: (() => boolean) | undefined;
}
