/** Records that stand for nothing, of any length: readers pass over them where bytes of the archive are lost. */

import { randomUUID } from 'node:crypto';

import { GZIP_FRAME_BYTES, STORED_BLOCK_BYTES_MAX, STORED_HEAD_BYTES, storedMember } from './member.ts';

/** What a filler says in its field Gossamer-Kind. */
export const FILLER_KIND = 'filler';
/** One is made in memory; a longer stretch gets several. */
const FILLER_BYTES_MAX = 1024 * 1024;

const SAYS = 'gossamer: what was here could not be read and belongs to no page';
const RECORD_END = '\r\n\r\n';

/**
 * pywb and cdxj-indexer leave metadata of this content type out of their indexes, and other readers know the type.
 * The date is that of the file: when the bytes were lost, nobody knows.
 */
const headOf = (date: string): string =>
  [
    'WARC/1.1',
    'WARC-Type: metadata',
    `WARC-Record-ID: <urn:uuid:${randomUUID()}>`,
    `WARC-Date: ${date}`,
    'Content-Type: application/warc-fields',
    `Gossamer-Kind: ${FILLER_KIND}`,
    'Content-Length: ',
  ].join('\r\n');

const HEAD_BYTES = headOf('2026-01-01T00:00:00Z').length;

/**
 * The shortest stretch that can be filled: a record with an empty block, and room to add one block where lengths do not
 * come out.
 */
export const FILLER_BYTES_MIN = GZIP_FRAME_BYTES + 2 * STORED_HEAD_BYTES + HEAD_BYTES + 1 + 2 * RECORD_END.length;

/** Whole gzip members, one after the other, that have exactly this length together. */
export function* fillers(bytes: number, fileName: string): Generator<Uint8Array> {
  if (bytes < FILLER_BYTES_MIN) throw new Error(`${bytes} bytes are too few for a filler`);
  const pieces = Math.ceil(bytes / FILLER_BYTES_MAX);
  for (let piece = 0, done = 0; piece < pieces; piece++) {
    const end = Math.floor((bytes * (piece + 1)) / pieces);
    yield filler(end - done, dateOf(fileName));
    done = end;
  }
}

/**
 * Two lengths cannot be had with a given number of blocks: the digits of Content-Length grow. One more block then
 * helps.
 */
const filler = (bytes: number, date: string): Uint8Array => {
  const least = Math.ceil((bytes - GZIP_FRAME_BYTES) / (STORED_BLOCK_BYTES_MAX + STORED_HEAD_BYTES));
  for (const blocks of [least, least + 1]) {
    const free = bytes - GZIP_FRAME_BYTES - blocks * STORED_HEAD_BYTES - HEAD_BYTES - 2 * RECORD_END.length;
    for (let digits = 1; digits <= String(FILLER_BYTES_MAX).length; digits++) {
      const length = free - digits;
      if (length < 0 || String(length).length !== digits) continue;
      const block = Buffer.alloc(length, ' ');
      block.write(SAYS); // as much of it as there is room for
      return storedMember(
        Buffer.concat([Buffer.from(`${headOf(date)}${length}${RECORD_END}`), block, Buffer.from(RECORD_END)]),
        blocks,
      );
    }
  }
  throw new Error(`no filler has ${bytes} bytes`);
};

/** When the file was begun, from its name: `gossamer-20261115204500-00000.warc.gz`. */
const dateOf = (fileName: string): string => {
  const [, year, month, day, hour, minute, second] = /-(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)-/.exec(fileName) ?? [
    '',
    '1970',
    '01',
    '01',
    '00',
    '00',
    '00',
  ];
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
};
