/** Reads records back from archive files, one at a place or all in order. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { ArchiveFault, RECORD_BYTES_MAX, systemCode } from './archive.ts';
import { unpackMember } from './member.ts';

export { splitHttp } from './head.ts';

export interface WarcRecord {
  /** Where its gzip member begins in the file, and how long that is. */
  readonly offset: number;
  readonly length: number;
  /** Names in lower case; repeated fields are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly block: Buffer;
}

/** One page with its head and text fits, as a rule. */
const ONE_WINDOW_BYTES = 64 * 1024;
/** Some dozens of records: the one cut off at its end is read twice. */
const MANY_WINDOW_BYTES = 1024 * 1024;
/** Packing never makes a record larger by more than this. */
const WINDOW_BYTES_MAX = RECORD_BYTES_MAX + 1024 * 1024;

/** The record that begins at this offset. */
export const readRecordAt = (path: string, offset: number): WarcRecord => {
  for (const record of recordsIn({ path, from: offset, to: Infinity, windowBytes: ONE_WINDOW_BYTES })) return record;
  throw damage(path, offset, 'the file ends before it');
};

/** One file held open, to read records at many places. */
export interface RecordFile {
  /** The record that begins there and lies before that end. */
  at(offset: number, end: number): WarcRecord;
  close(): void;
}

export const openRecordFile = (path: string): RecordFile => {
  const fd = opened(path);
  const room = Buffer.allocUnsafe(ONE_WINDOW_BYTES);
  return {
    at: (offset, end) => {
      for (const record of recordsOf({ fd, path, from: offset, to: end, room })) return record;
      throw damage(path, offset, 'the file ends before it');
    },
    close: () => closeSync(fd),
  };
};

/** The records from one offset to another, in order; memory does not grow with the file. */
export function* readRecords(path: string, from = 0, to = Infinity): Generator<WarcRecord> {
  yield* recordsIn({ path, from, to, windowBytes: MANY_WINDOW_BYTES });
}

interface Stretch {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly windowBytes: number;
}

function* recordsIn({ windowBytes, ...stretch }: Stretch): Generator<WarcRecord> {
  const fd = opened(stretch.path);
  try {
    yield* recordsOf({ ...stretch, fd, room: Buffer.allocUnsafe(windowBytes) });
  } finally {
    closeSync(fd);
  }
}

interface OpenStretch extends Omit<Stretch, 'windowBytes'> {
  readonly fd: number;
  /** Where the bytes of the file go at first; a record has none of it. */
  readonly room: Buffer;
}

function* recordsOf({ fd, path, from, to, room: first }: OpenStretch): Generator<WarcRecord> {
  try {
    const end = Math.min(to, fstatSync(fd).size);
    let room = first;
    let window = room.subarray(0, 0); // the bytes of the file from `at` on that are in memory
    let at = from;
    while (at < end) {
      const member = unpackMember(window);
      switch (member.kind) {
        case 'whole':
          yield parsed({ path, offset: at, length: member.length, raw: member.raw });
          at += member.length;
          window = window.subarray(member.length);
          break;
        case 'short': {
          const known = window.length;
          if (at + known >= end) throw damage(path, at, `it is not whole where the archive ends, at ${end}`);
          if (known >= WINDOW_BYTES_MAX) throw damage(path, at, `it has more than ${RECORD_BYTES_MAX} bytes`);
          const target = known * 2 > room.length ? Buffer.allocUnsafe(room.length * 2) : room;
          window.copy(target);
          room = target;
          window = room.subarray(
            0,
            known + filled(fd, room.subarray(known, Math.min(room.length, end - at)), at + known),
          );
          if (window.length === known) throw damage(path, at, 'the file became shorter while it was read');
          break;
        }
        case 'damaged':
          throw damage(path, at, member.why);
      }
    }
  } catch (error) {
    throw error instanceof ArchiveFault ? error : unreadable(path, error);
  }
}

const opened = (path: string): number => {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
};

const filled = (fd: number, room: Uint8Array, position: number): number => {
  let count = 0;
  while (count < room.length) {
    const read = readSync(fd, room, count, room.length - count, position + count);
    if (read === 0) break;
    count += read;
  }
  return count;
};

const HEAD_END = '\r\n\r\n';

const parsed = (from: { path: string; offset: number; length: number; raw: Buffer }): WarcRecord => {
  const { path, offset, length, raw } = from;
  const headEnd = raw.indexOf(HEAD_END);
  const [version, ...lines] = raw.toString('utf8', 0, Math.max(headEnd, 0)).split('\r\n');
  if (version !== 'WARC/1.1') throw damage(path, offset, 'no WARC 1.1 record begins here');
  const headers = headerFields(lines);
  const blockAt = headEnd + HEAD_END.length;
  const blockEnd = raw.length - HEAD_END.length;
  if (headers['content-length'] !== String(blockEnd - blockAt) || raw.indexOf(HEAD_END, blockEnd) !== blockEnd) {
    throw damage(path, offset, 'its Content-Length does not match its block');
  }
  return { offset, length, headers, block: raw.subarray(blockAt, blockEnd) };
};

const headerFields = (lines: readonly string[]): Record<string, string> => {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const former = fields.get(name);
    fields.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return Object.fromEntries(fields);
};

const damage = (path: string, offset: number, why: string): ArchiveFault =>
  new ArchiveFault(
    `the record at offset ${offset} of "${path}" cannot be read: ${why}`,
    'restore this file from a copy, or fetch its pages again',
  );

const unreadable = (path: string, error: unknown): ArchiveFault =>
  systemCode(error) === 'ENOENT'
    ? new ArchiveFault(`the archive file "${path}" is not there`, 'put it back where the crawl left it', error)
    : new ArchiveFault(
        `the archive file "${path}" cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        'check the disk and who may read the file',
        error,
      );
