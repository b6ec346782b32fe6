/** What Node unpacks at once: all of a body or, where that is broken or too much, nothing. */

import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
  type ZstdDecompress,
} from 'node:zlib';

/** Throws when the input is broken or its output is over the ceiling. An input that ends early is neither. */
export type Decode = (input: Uint8Array, outputBytesMax: number) => Uint8Array;

const zlibOptions = (maxOutputLength: number) => ({ maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });

export const gunzip: Decode = (input, max) => gunzipSync(input, zlibOptions(max));
export const unzlib: Decode = (input, max) => inflateSync(input, zlibOptions(max));
export const undeflate: Decode = (input, max) => inflateRawSync(input, zlibOptions(max));

export const unbrotli: Decode = (input, maxOutputLength) =>
  brotliDecompressSync(input, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH });

/** RFC 9659: no more than 8 MiB may be needed to unpack a body. */
const ZSTD_WINDOW_LOG_MAX = 23;
/** Frames of one body, one after the other; some servers make one for each write. */
const ZSTD_FRAMES_MAX = 1_000;

/** Node unpacks one frame (RFC 8878, 3.1.1); a body may have several. */
export const unzstd: Decode = (input, outputBytesMax) => {
  const parts: Uint8Array[] = [];
  let left = outputBytesMax;
  for (let at = 0, frames = 0; at < input.length && frames < ZSTD_FRAMES_MAX; frames += 1) {
    const { buffer, engine } = zstdDecompressSync(input.subarray(at), {
      maxOutputLength: left,
      finishFlush: constants.ZSTD_e_flush,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      info: true,
    }) as unknown as { buffer: Uint8Array; engine: ZstdDecompress };
    parts.push(buffer);
    left -= buffer.length;
    if (engine.bytesWritten === 0) break;
    at += engine.bytesWritten;
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
};

export type Attempt =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'full' }
  | { readonly kind: 'broken' };

/** Runs a decoder; that it fails is a value. */
export const attempt = (decode: Decode, input: Uint8Array, outputBytesMax: number): Attempt => {
  try {
    return { kind: 'whole', bytes: decode(input, outputBytesMax) };
  } catch (fault) {
    const isFull = fault instanceof RangeError && 'code' in fault && fault.code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: isFull ? 'full' : 'broken' };
  }
};
