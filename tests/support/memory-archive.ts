/** An archive whose files are bytes in memory, rolled small so that tests meet many of them. */

import type { Archive } from '../../src/archive/archive.ts';
import type { NoPlace, WarcPlace } from '../../src/model/page.ts';

/** Where one record lies; a page without one is refused. */
export type Span = Pick<WarcPlace | NoPlace, 'warc_file' | 'warc_offset' | 'warc_length'>;

export interface MemoryArchive extends Archive {
  /** While it is set, `append` throws it and appends nothing, as on a full disk. */
  fault: Error | null;
  /** Bytes in all files together. */
  totalBytes(): number;
  read(span: Span): Uint8Array;
}

interface ArchiveFile {
  readonly name: string;
  bytes: Buffer;
}

const FILE_BYTES_MAX = 2_000; // a few dozen records of the tests

export const openMemoryArchive = (fileBytesMax: number = FILE_BYTES_MAX): MemoryArchive => {
  let files: ArchiveFile[] = [];
  const lastFile = (): ArchiveFile => {
    const last = files.at(-1);
    if (last && last.bytes.length < fileBytesMax) return last;
    const added = { name: `records-${String(files.length + 1).padStart(5, '0')}`, bytes: Buffer.alloc(0) };
    files.push(added);
    return added;
  };
  const archive: MemoryArchive = {
    fault: null,
    append: (records) => {
      if (archive.fault) throw archive.fault;
      return records.map((record) => {
        const file = lastFile();
        const offset = file.bytes.length;
        file.bytes = Buffer.concat([file.bytes, record]);
        return { file: file.name, offset };
      });
    },
    end: () => {
      const last = files.at(-1);
      return last ? { file: last.name, bytes: last.bytes.length } : { file: '', bytes: 0 };
    },
    cut: (end) => {
      if (end.file === '') {
        files = [];
        return;
      }
      const kept = files.findIndex((file) => file.name === end.file);
      const last = files[kept];
      if (!last || last.bytes.length < end.bytes) throw new Error(`${end.file} does not reach ${end.bytes} bytes`);
      last.bytes = last.bytes.subarray(0, end.bytes);
      files = files.slice(0, kept + 1);
    },
    sync: () => {},
    // Nothing to close: the bytes live as long as the object, so that a store can be opened on them again.
    close: () => {},
    totalBytes: () => files.reduce((sum, file) => sum + file.bytes.length, 0),
    read: ({ warc_file, warc_offset, warc_length }) => {
      const bytes = files
        .find(({ name }) => name === warc_file)
        ?.bytes.subarray(warc_offset!, warc_offset! + warc_length!);
      if (bytes?.length !== warc_length) throw new Error(`${warc_file} has no ${warc_length} bytes at ${warc_offset}`);
      return bytes;
    },
  };
  return archive;
};
