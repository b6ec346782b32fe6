/** Reads gzip and zlib, deflate in an envelope, as far as they can be read (RFC 1952, RFC 1950). */

import { openDeflate } from './deflate.ts';
import type { Unpacked, UnpackLimits } from './limits.ts';

/** Bytes unpacked in one step: about a millisecond. */
const STEP_BYTES = 128 * 1024;

/** Which envelope there is. */
export type Envelope = 'gzip' | 'zlib' | 'none';

/** Never ends as `whole`: it is for bodies that something is wrong with. Yields between two steps. */
export function* readDeflated(
  input: Uint8Array,
  envelope: Envelope,
  { bytesMax, isLate = () => false }: UnpackLimits,
): Generator<void, Unpacked> {
  const from = envelope === 'gzip' ? headEnd(input, 0) : envelope === 'zlib' ? ZLIB_HEAD_BYTES : 0;
  if (from < 0) return { bytes: new Uint8Array(), end: 'broken' };
  // One byte more, to see whether there is one.
  const stream = openDeflate(input, from, bytesMax + 1);
  for (;;) {
    const state = stream.read(stream.output().length + STEP_BYTES);
    const bytes = stream.output();
    if (bytes.length > bytesMax) return { bytes: bytes.subarray(0, bytesMax), end: 'full' };
    const next = state === 'end' && envelope === 'gzip' ? headEnd(input, stream.place() + GZIP_TRAILER_BYTES) : -1;
    if (next >= 0) stream.restart(next);
    else if (state !== 'more') return { bytes, end: 'broken' };
    if (isLate()) return { bytes, end: 'late' };
    yield;
  }
}

const ZLIB_HEAD_BYTES = 2;
const GZIP_HEAD_BYTES = 10;
/** RFC 1952, 2.3: checksum and length, which are not looked at. */
const GZIP_TRAILER_BYTES = 8;
const HAS_CHECKSUM = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;

/** Behind the head of a gzip member that begins there; -1 when none does. */
const headEnd = (input: Uint8Array, at: number): number => {
  if (input[at] !== 0x1f || input[at + 1] !== 0x8b || input[at + 2] !== 8) return -1;
  const flags = input[at + 3] ?? 0;
  let end = at + GZIP_HEAD_BYTES;
  if (flags & HAS_EXTRA) end += 2 + (input[end] ?? 0) + 256 * (input[end + 1] ?? 0);
  for (const text of [HAS_NAME, HAS_COMMENT]) {
    if (!(flags & text)) continue;
    const zero = input.indexOf(0, end);
    if (zero < 0) return -1;
    end = zero + 1;
  }
  if (flags & HAS_CHECKSUM) end += 2;
  return end <= input.length ? end : -1;
};
