/** Undoes the Content-Encoding of a body, whatever it turns out to be. */

import { finished } from '../lib/steps.ts';
import { readDeflated, type Envelope } from './unpack/gzip.ts';
import type { Unpacked, UnpackEnd, UnpackLimits } from './unpack/limits.ts';
import { readLongest } from './unpack/longest.ts';
import { attempt, type Decode, gunzip, unbrotli, undeflate, unzlib, unzstd } from './unpack/native.ts';

/** More codings on one body than this are no honest page. */
const CODINGS_MAX = 3;

/** The body without its codings, as much of it as the limits allow. */
export const inflate = (body: Uint8Array, contentEncoding: string, limits: UnpackLimits): Unpacked =>
  finished(inflateInSteps(body, contentEncoding, limits));

/** Undoes the codings of a body piece by piece: whoever runs it may do something else whenever it yields. */
export function* inflateInSteps(
  body: Uint8Array,
  contentEncoding: string,
  limits: UnpackLimits,
): Generator<void, Unpacked> {
  const { bytesMax } = limits;
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  let bytes = body;
  let end: UnpackEnd = codings.length > CODINGS_MAX ? 'broken' : 'whole';
  for (const coding of end === 'broken' ? [] : codings.reverse()) {
    if (bytes.length === 0) break;
    const step = yield* undo(coding, bytes, limits);
    if (end === 'whole') end = step?.end ?? 'broken';
    if (step === null) break;
    bytes = step.bytes;
  }
  if (bytes.length <= bytesMax) return { bytes, end };
  return { bytes: bytes.subarray(0, bytesMax), end: end === 'whole' ? 'full' : end };
}

/** Null when nothing of it can be read. */
function* undo(coding: string, input: Uint8Array, limits: UnpackLimits): Generator<void, Unpacked | null> {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return yield* undoDeflate(gunzip, 'gzip', input, limits);
    case 'deflate':
      // RFC 9110, 8.4.1.2: it means the zlib format, but many servers send it bare.
      return isZlib(input)
        ? yield* undoDeflate(unzlib, 'zlib', input, limits)
        : yield* undoDeflate(undeflate, 'none', input, limits);
    case 'br':
      return yield* readLongest(unbrotli, input, limits);
    case 'zstd': // is never asked for, but some servers send it
      return yield* readLongest(unzstd, input, limits);
    default:
      return null;
  }
}

const isZlib = (input: Uint8Array): boolean => {
  const first = input[0] ?? 0;
  return (first & 0x0f) === 8 && ((first << 8) | (input[1] ?? 0)) % 31 === 0;
};

function* undoDeflate(
  native: Decode,
  envelope: Envelope,
  input: Uint8Array,
  limits: UnpackLimits,
): Generator<void, Unpacked | null> {
  const whole = attempt(native, input, limits.bytesMax);
  if (whole.kind === 'whole') return { bytes: whole.bytes, end: 'whole' };
  yield;
  const read = yield* readDeflated(input, envelope, limits);
  return read.bytes.length === 0 ? null : read;
}
