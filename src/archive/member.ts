/** One gzip member: each record is one, so that it can be read from its offset alone. */

import { constants, crc32, gzipSync, inflateRawSync } from 'node:zlib';

import { RECORD_BYTES_MAX } from './archive.ts';

const GZIP_HEAD_BYTES = 10;
const GZIP_TAIL_BYTES = 8;
/** What a member has around its blocks, and a stored block around its bytes. */
export const GZIP_FRAME_BYTES = GZIP_HEAD_BYTES + GZIP_TAIL_BYTES;
export const STORED_HEAD_BYTES = 5;
/** RFC 1951, 3.2.4: a stored block has a length of 16 bits. */
export const STORED_BLOCK_BYTES_MAX = 0xffff;

/** Level 3 packs 3 % better and takes 15 % longer; level 6 packs 12 % better and takes twice as long. */
const GZIP_LEVEL = 1;
/** Starting the compressor costs 15 us, more than the bytes of a smaller record are worth. */
const PACKED_FROM_BYTES = 1024;

const SAMPLE_BYTES = 1024;
/**
 * 1,024 random bytes hold 251 different values, give or take 2; text stays below 200 in any
 * charset. Above this, packing costs ten times as much as storing and gains nothing.
 */
const SAMPLE_VALUES_MAX = 220;

/** First room for a record that is read; most pages with their heads fit. */
const UNPACK_CHUNK_BYTES = 64 * 1024;

/** Is it packed already, whatever its head says of it? Judged by a sample from its middle. */
export const looksPacked = (body: Uint8Array): boolean => {
  if (body.length < SAMPLE_BYTES) return false;
  const from = (body.length - SAMPLE_BYTES) >>> 1;
  const met = new Uint8Array(256);
  let values = 0;
  for (let at = from; at < from + SAMPLE_BYTES; at++) {
    const value = body[at] as number;
    if (met[value] === 0) {
      met[value] = 1;
      values++;
    }
  }
  return values > SAMPLE_VALUES_MAX;
};

/** A gzip member of these bytes; those that would not shrink are stored as they are. */
export const packMember = (raw: Uint8Array, packed: boolean): Uint8Array =>
  packed || raw.length < PACKED_FROM_BYTES
    ? storedMember(raw)
    : gzipSync(raw, { level: GZIP_LEVEL, windowBits: windowBitsFor(raw.length) });

/**
 * No smaller window packs worse than the widest, as long as it spans all bytes; and a smaller one is cheaper to start.
 */
const windowBitsFor = (length: number): number => Math.min(15, Math.max(10, Math.ceil(Math.log2(length + 300))));

const blocksFor = (length: number): number => Math.max(1, Math.ceil(length / STORED_BLOCK_BYTES_MAX));

/**
 * Written by hand: a compressor at level 0 makes the same bytes at five times the cost. Blocks at the end may be empty.
 */
export const storedMember = (raw: Uint8Array, blocks = blocksFor(raw.length)): Uint8Array => {
  const member = new Uint8Array(GZIP_HEAD_BYTES + blocks * STORED_HEAD_BYTES + raw.length + GZIP_TAIL_BYTES);
  const view = new DataView(member.buffer);
  member.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]); // RFC 1952: deflate, no flags, no time, system unknown
  let to = GZIP_HEAD_BYTES;
  for (let block = 0; block < blocks; block++) {
    const part = raw.subarray(block * STORED_BLOCK_BYTES_MAX, (block + 1) * STORED_BLOCK_BYTES_MAX);
    member[to] = block === blocks - 1 ? 1 : 0;
    view.setUint16(to + 1, part.length, true);
    view.setUint16(to + 3, ~part.length & 0xffff, true);
    member.set(part, to + STORED_HEAD_BYTES);
    to += STORED_HEAD_BYTES + part.length;
  }
  view.setUint32(to, crc32(raw), true);
  view.setUint32(to + 4, raw.length, true);
  return member;
};

export type Unpacked =
  | { readonly kind: 'whole'; readonly raw: Buffer; readonly length: number }
  /** The member goes on after the bytes that were given. */
  | { readonly kind: 'short' }
  | { readonly kind: 'damaged'; readonly why: string };

/** The first member of these bytes, and how long it is. */
export const unpackMember = (bytes: Buffer): Unpacked => {
  if (bytes.length < GZIP_HEAD_BYTES) return { kind: 'short' };
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8)
    return { kind: 'damaged', why: 'no gzip member begins here' };
  if (bytes[3] !== 0) return { kind: 'damaged', why: 'a gzip member with flags, which this archive never has' };
  const inside = unstored(bytes) ?? inflated(bytes);
  if (inside.kind !== 'inside') return inside;
  const { raw, tailAt } = inside;
  if (tailAt + GZIP_TAIL_BYTES > bytes.length) return { kind: 'short' };
  if (bytes.readUInt32LE(tailAt) !== crc32(raw)) return { kind: 'damaged', why: 'its checksum does not match' };
  if (bytes.readUInt32LE(tailAt + 4) !== raw.length) return { kind: 'damaged', why: 'its length does not match' };
  return { kind: 'whole', raw, length: tailAt + GZIP_TAIL_BYTES };
};

/** What the deflate stream of a member holds, and where the member's tail begins. */
type Inside =
  | { readonly kind: 'inside'; readonly raw: Buffer; readonly tailAt: number }
  | Exclude<Unpacked, { kind: 'whole' }>;

/**
 * A member that is stored only, copied out by hand: most records are small and stored, and starting zlib for each costs
 * 20 us and 64 KiB that wait for the garbage collector. Null when a block is packed, or is none: zlib says what it is.
 */
const unstored = (bytes: Buffer): Inside | null => {
  const parts: Buffer[] = [];
  for (let at = GZIP_HEAD_BYTES, isLast = false; ; ) {
    if (isLast)
      return { kind: 'inside', raw: parts.length === 1 ? Buffer.from(parts[0]!) : Buffer.concat(parts), tailAt: at };
    if (at + STORED_HEAD_BYTES > bytes.length) return (bytes[at] ?? 0) > 1 ? null : { kind: 'short' };
    if (bytes[at]! > 1) return null; // 0: stored, 1: stored and the last; the five bits after these three mean nothing
    const length = bytes.readUInt16LE(at + 1);
    if ((length ^ bytes.readUInt16LE(at + 3)) !== 0xffff) return null;
    isLast = bytes[at] === 1;
    at += STORED_HEAD_BYTES + length;
    if (at > bytes.length) return { kind: 'short' };
    parts.push(bytes.subarray(at - length, at));
  }
};

/**
 * The gzip functions of Node read on into the next member without a word, so only the deflate stream inside is given to
 * zlib. A stream that goes on behind these bytes is no error (Z_SYNC_FLUSH): it takes them all, so no room is left for
 * the tail. An error would keep zlib's memory until the event loop turns, and whoever reads a file through does not let
 * it.
 */
const inflated = (bytes: Buffer): Inside => {
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(GZIP_HEAD_BYTES), {
      info: true,
      chunkSize: UNPACK_CHUNK_BYTES,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: RECORD_BYTES_MAX,
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    return { kind: 'inside', raw: buffer, tailAt: GZIP_HEAD_BYTES + engine.bytesWritten };
  } catch (error) {
    return { kind: 'damaged', why: error instanceof Error ? error.message : String(error) };
  }
};
