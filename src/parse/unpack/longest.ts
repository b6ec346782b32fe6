/** Finds the longest beginning of a body that Node can unpack, for codings that have no decoder of our own. */

import type { Unpacked, UnpackLimits } from './limits.ts';
import { attempt, type Decode } from './native.ts';

/**
 * One more byte of input can release one whole block of output: 16 MiB in brotli (RFC 7932, 9.2), 128 KiB in zstd. With
 * this much room above the ceiling there is always a beginning that fills the ceiling and still fits.
 */
const ROOM_BYTES = 17 * 1024 * 1024;
/** Each try costs as much as unpacking. So many find the end of what can be read within a thousandth of the body. */
const TRIES_MAX = 12;
/** A bomb unpacks to thousands of times its size: the beginning that fits is sought in long strides. */
const BOMB_STRIDE = 16;

/** Null when nothing of it can be read. Yields between two tries. */
export function* readLongest(
  decode: Decode,
  input: Uint8Array,
  { bytesMax, isLate = () => false }: UnpackLimits,
): Generator<void, Unpacked | null> {
  const outputBytesMax = bytesMax + ROOM_BYTES;
  let last = attempt(decode, input, outputBytesMax);
  if (last.kind === 'whole') return { bytes: last.bytes, end: 'whole' };
  let best = new Uint8Array();
  let end: Unpacked['end'] = last.kind;
  let good = 0;
  let bad = input.length;
  for (let tries = 0; tries < TRIES_MAX && bad - good > 1 && best.length < bytesMax; tries += 1) {
    if (isLate()) {
      end = 'late';
      break;
    }
    yield;
    const isBomb = last.kind === 'full' && good === 0;
    const middle = isBomb ? Math.max(1, Math.floor(bad / BOMB_STRIDE)) : (good + bad) >>> 1;
    last = attempt(decode, input.subarray(0, middle), outputBytesMax);
    if (last.kind === 'whole') {
      good = middle;
      best = new Uint8Array(last.bytes);
    } else {
      bad = middle;
      end = last.kind;
    }
  }
  if (best.length === 0) return null;
  return { bytes: best, end: best.length >= bytesMax ? 'full' : end };
}
