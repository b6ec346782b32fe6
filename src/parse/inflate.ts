/** Undoes the Content-Encoding of a body, whatever it turns out to be. */

import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

export interface Inflated {
  readonly bytes: Uint8Array;
  /** There was more than the ceiling allows. */
  readonly cut: boolean;
  /** The encoding is unknown or the bytes do not keep it: what could be read was. */
  readonly broken: boolean;
}

/** More codings on one body than this are no honest page. */
const CODINGS_MAX = 3;

/**
 * One more byte of input can release one whole block of output: 16 MiB in brotli (RFC 7932, 9.2),
 * 2 KiB in deflate. With this much room above the ceiling there is always a part of the input that
 * fills the ceiling and still fits.
 */
const ROOM_BYTES = 17 * 1024 * 1024;

type Decode = (input: Uint8Array, outputBytesMax: number) => Uint8Array;

const zlibOptions = (maxOutputLength: number) => ({ maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });

const gunzip: Decode = (input, max) => gunzipSync(input, zlibOptions(max));

const unbrotli: Decode = (input, maxOutputLength) =>
  brotliDecompressSync(input, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH });

/** `deflate` means the zlib format (RFC 9110, 8.4.1.2), but many servers send it bare. */
const undeflate: Decode = (input, max) => {
  const first = input[0] ?? 0;
  const wrapped = (first & 0x0f) === 8 && ((first << 8) | (input[1] ?? 0)) % 31 === 0;
  return wrapped ? inflateSync(input, zlibOptions(max)) : inflateRawSync(input, zlibOptions(max));
};

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', undeflate],
  ['br', unbrotli],
]);

/** The body without its codings, at most `bytesMax` of it. */
export const inflate = (body: Uint8Array, contentEncoding: string, bytesMax: number): Inflated => {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  let bytes = body;
  let broken = codings.length > CODINGS_MAX;
  let overfull = false;
  for (const coding of broken ? [] : codings.reverse()) {
    if (bytes.length === 0) break;
    const decode = DECODERS.get(coding);
    const step = decode === undefined ? null : decodeMost(decode, bytes, bytesMax + ROOM_BYTES);
    broken ||= step === null || step.broken;
    overfull ||= step?.overfull ?? false;
    if (step === null) break;
    bytes = step.bytes;
  }
  const cut = overfull || bytes.length > bytesMax;
  return { bytes: bytes.length > bytesMax ? bytes.subarray(0, bytesMax) : bytes, cut, broken };
};

interface Decoded {
  readonly bytes: Uint8Array;
  readonly overfull: boolean;
  readonly broken: boolean;
}

/** All of it or, where it is broken or a bomb, of the longest beginning that can be read; null for nothing. */
const decodeMost = (decode: Decode, input: Uint8Array, outputBytesMax: number): Decoded | null => {
  const whole = attempt(decode, input, outputBytesMax);
  if (whole.bytes !== null) return { bytes: whole.bytes, overfull: false, broken: false };
  let best: Uint8Array | null = null;
  let { overfull } = whole;
  let good = 0;
  let bad = input.length;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    const part = attempt(decode, input.subarray(0, middle), outputBytesMax);
    if (part.bytes === null) {
      bad = middle;
      overfull = part.overfull;
    } else {
      good = middle;
      best = part.bytes;
      if (overfull && best.length >= outputBytesMax - ROOM_BYTES) break;
    }
  }
  if (best === null || best.length === 0) return null;
  return { bytes: best, overfull, broken: !overfull };
};

interface Attempt {
  readonly bytes: Uint8Array | null;
  readonly overfull: boolean;
}

const attempt = (decode: Decode, input: Uint8Array, outputBytesMax: number): Attempt => {
  try {
    return { bytes: decode(input, outputBytesMax), overfull: false };
  } catch (fault) {
    return {
      bytes: null,
      overfull: fault instanceof RangeError && 'code' in fault && fault.code === 'ERR_BUFFER_TOO_LARGE',
    };
  }
};
