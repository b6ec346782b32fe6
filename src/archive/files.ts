/** The archive on disk: WARC files that are filled one after the other, and cut back to what is settled. */

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writevSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import type { ArchiveEnd } from '../model/census.ts';
import { ArchiveFault, systemCode, type Archive } from './archive.ts';

export interface ArchiveOptions {
  /** `<crawl>/warc`; made when the first record comes. */
  readonly dir: string;
  /** Where the settled part ends, as the store knows it. */
  readonly settled: ArchiveEnd;
  readonly fileBytesMax?: number;
  /** The record that opens a file, with this id or a fresh one. */
  readonly warcinfo: (fileName: string, id?: string | undefined) => Uint8Array;
  /**
   * The id that the records of this run name as that of their warcinfo record. It is written before the first of them,
   * also into a file that an earlier run has begun.
   */
  readonly warcinfoId?: string;
  /** The moment for the name of a new file: `20261115204500`. */
  readonly stamp: () => string;
}

const LOST_ADVICE = 'put it back, or find and mend what it cost with "gossamer verify --repair"; then resume';

/** What archives and their tools are used to: large enough to be few, small enough to be moved. */
export const FILE_BYTES_MAX = 1024 ** 3;

/** The archive up to its settled end: what was appended after that and never settled is cut. */
export const openArchive = (options: ArchiveOptions): Archive => {
  const archive = new ArchiveFiles(options);
  archive.cut(options.settled);
  return archive;
};

const NAME = /^gossamer-\d{14}(?:-[0-9a-f]{8})?-(\d{5,})\.warc\.gz$/;

/** The place of a file in the order of all; null when the name is not one of ours. */
export const serialOf = (name: string): number | null => {
  const match = NAME.exec(name);
  return match === null ? null : Number(match[1]);
};

class ArchiveFiles implements Archive {
  readonly #options: ArchiveOptions;
  readonly #fileBytesMax: number;
  #fd: number | null = null;
  #file = '';
  #bytes = 0;
  /** Where the warcinfo record of this run begins; null while it is not written. */
  #described: ArchiveEnd | null = null;
  /** Set at the close and by a cut that failed: what the files hold is then not known. */
  #broken: ArchiveFault | null = null;
  /** Somebody took the file away, or cut it. Nothing that is done to the files from here on brings it back. */
  #lost: ArchiveFault | null = null;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.#fileBytesMax = options.fileBytesMax ?? FILE_BYTES_MAX;
  }

  append(records: readonly Uint8Array[]): readonly { readonly file: string; readonly offset: number }[] {
    if (this.#broken !== null) throw this.#broken;
    const before = this.end();
    try {
      // Before: behind the end of a file that was cut, a write leaves a hole. After: what went into a file that is gone
      // must not be settled.
      this.#checkThere();
      const places = this.#appendAll(records);
      this.#checkThere();
      return places;
    } catch (error) {
      const fault = faultOf('records cannot be appended to', this.#path(this.#file), error);
      try {
        this.cut(before);
      } catch {
        // the first cause is the one to tell; no append is taken until a cut goes well
      }
      throw fault;
    }
  }

  end(): ArchiveEnd {
    return { file: this.#file, bytes: this.#bytes };
  }

  cut(end: ArchiveEnd): void {
    if (this.#lost !== null) throw this.#lost;
    const path = this.#path(end.file);
    try {
      const fd = end.file === '' ? null : openToCut(path, end);
      try {
        this.#release();
        removeAfter(this.#options.dir, end.file === '' ? -1 : (serialOf(end.file) ?? -1));
        if (fd !== null && fstatSync(fd).size > end.bytes) ftruncateSync(fd, end.bytes);
      } catch (error) {
        if (fd !== null) closeSync(fd);
        throw error;
      }
      this.#fd = fd;
    } catch (error) {
      this.#broken = faultOf('the unsettled end cannot be cut from', path, error);
      throw this.#broken;
    }
    this.#file = end.file;
    this.#bytes = end.bytes;
    if (this.#described !== null && !isBefore(this.#described, end)) this.#described = null;
    this.#broken = null;
  }

  sync(): void {
    try {
      if (this.#broken === null) this.#checkThere();
      if (this.#fd !== null) fsyncSync(this.#fd);
    } catch (error) {
      throw faultOf('what was written may not be on disk in', this.#path(this.#file), error);
    }
  }

  close(): void {
    try {
      this.sync();
    } finally {
      this.#release();
      this.#broken = new ArchiveFault(`the archive in "${this.#options.dir}" is closed`, 'open it again');
    }
  }

  /** Runs of records go to the disk in one write per file. */
  #appendAll(records: readonly Uint8Array[]): { file: string; offset: number }[] {
    const { warcinfo, warcinfoId } = this.#options;
    const places: { file: string; offset: number }[] = [];
    let run: Uint8Array[] = [];
    let end = this.#bytes;
    for (const record of records) {
      let opening = this.#isDescribed() ? null : warcinfo(this.#file, warcinfoId);
      if (this.#file === '' || end + (opening?.length ?? 0) + record.length > this.#fileBytesMax) {
        this.#write(run);
        this.#begin();
        run = [];
        end = 0;
        opening = warcinfo(this.#file, this.#isDescribed() ? undefined : warcinfoId);
      }
      if (opening !== null) {
        this.#described ??= { file: this.#file, bytes: end };
        run.push(opening);
        end += opening.length;
      }
      places.push({ file: this.#file, offset: end });
      run.push(record);
      end += record.length;
    }
    this.#write(run);
    return places;
  }

  /** Whether the warcinfo record that the records of this run name is written, if they name any. */
  #isDescribed(): boolean {
    return this.#options.warcinfoId === undefined || this.#described !== null;
  }

  /** Go on in a new file, which has nothing in it yet. */
  #begin(): void {
    const serial = this.#file === '' ? 0 : (serialOf(this.#file) ?? -1) + 1;
    const name = `gossamer-${this.#options.stamp()}-${String(serial).padStart(5, '0')}.warc.gz`;
    if (serialOf(name) !== serial)
      throw new Error(`"${name}" would not be known again as an archive file: its stamp must have 14 digits`);
    makeFolder(this.#options.dir);
    const fd = openSync(this.#path(name), 'wx');
    try {
      this.sync(); // the last chance for the file before: from now on only the new one is synced
      syncDirectory(this.#options.dir);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#release();
    this.#fd = fd;
    this.#file = name;
    this.#bytes = 0;
  }

  /** Throws when the file is no longer at its place, or shorter than what was written to it. */
  #checkThere(): void {
    if (this.#fd === null) return;
    const path = this.#path(this.#file);
    const { nlink, size } = fstatSync(this.#fd);
    // Without a link it was deleted; with one it may have been moved, and goes on to be written where it is now.
    const isGone = nlink === 0 || !existsSync(path);
    if (!isGone && size >= this.#bytes) return;
    this.#lost = this.#broken = new ArchiveFault(
      isGone
        ? `the archive file "${path}" was deleted or moved away while it was written`
        : `the archive file "${path}" was cut to ${size} bytes, of ${this.#bytes}, while it was written`,
      LOST_ADVICE,
    );
    throw this.#lost;
  }

  #write(run: readonly Uint8Array[]): void {
    if (this.#fd === null) return; // before the first file there is nothing to write
    this.#bytes += writeAll(this.#fd, run, this.#bytes);
  }

  #release(): void {
    const fd = this.#fd;
    this.#fd = null;
    if (fd !== null) closeSync(fd);
  }

  #path(file: string): string {
    return join(this.#options.dir, file);
  }
}

/** The file of a settled end, which must hold all that was settled. */
const openToCut = (path: string, end: ArchiveEnd): number => {
  if (serialOf(end.file) === null) {
    throw new ArchiveFault(
      `"${end.file}" is not the name of an archive file`,
      'the store of this crawl is damaged: restore it from a copy',
    );
  }
  let fd: number;
  try {
    fd = openSync(path, 'r+');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new ArchiveFault(`the archive file "${path}" is missing, though its pages are settled`, LOST_ADVICE, error);
  }
  const { size } = fstatSync(fd);
  if (size >= end.bytes && !endsInZeros(fd, end.bytes)) return fd;
  closeSync(fd);
  if (size >= end.bytes) {
    throw new ArchiveFault(
      `the archive file "${path}" ends in zeros, as after a power loss`,
      'find and mend what it cost with "gossamer verify --repair", then resume',
    );
  }
  throw new ArchiveFault(
    `the archive file "${path}" has ${size} bytes, but ${end.bytes} were settled`,
    'a power loss can cost its end: find and mend it with "gossamer verify --repair", or restore it from a copy; then resume',
  );
};

/**
 * A gzip member ends with the length of what it holds, which is never zero; blocks that never reached the disk read as
 * zeros.
 */
const endsInZeros = (fd: number, end: number): boolean => {
  const last = Buffer.alloc(4);
  return (
    end >= last.length &&
    readSync(fd, last, 0, last.length, end - last.length) === last.length &&
    last.readUInt32LE() === 0
  );
};

/** Whether what begins at this place is left when the archive is cut to that end. */
const isBefore = (place: ArchiveEnd, end: ArchiveEnd): boolean => {
  const [serial, last] = [serialOf(place.file) ?? -1, serialOf(end.file) ?? -1];
  return serial < last || (serial === last && place.bytes < end.bytes);
};

/** A file that is new is found after a power loss only if its directory was synced too. */
const syncDirectory = (dir: string): void => {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Only files with our own kind of name are looked at; the newest go first, so that no gap is ever left. */
const removeAfter = (dir: string, serial: number): void => {
  const later = archiveFiles(dir)
    .filter((file) => file.serial > serial)
    .sort((a, b) => b.serial - a.serial);
  for (const { name } of later) unlinkSync(join(dir, name));
};

/** The files with our kind of name, by name; none when the directory is not there yet. */
export const archiveFiles = (dir: string): { name: string; serial: number }[] => {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.toSorted().flatMap((name) => {
    const serial = serialOf(name);
    return serial === null ? [] : [{ name, serial }];
  });
};

const writeAll = (fd: number, parts: readonly Uint8Array[], position: number): number => {
  let written = 0;
  let left = unwritten(parts, 0);
  while (left.length > 0) {
    const count = writevSync(fd, left, position + written);
    if (count === 0) throw new Error('the disk took none of the bytes');
    written += count;
    left = unwritten(left, count);
  }
  return written;
};

/** What is left of these parts after a write that ended early, as on a disk that is nearly full. */
export const unwritten = (parts: readonly Uint8Array[], count: number): Uint8Array[] => {
  const left: Uint8Array[] = [];
  let skip = count;
  for (const part of parts) {
    if (skip < part.length) left.push(skip === 0 ? part : part.subarray(skip));
    skip = Math.max(0, skip - part.length);
  }
  return left;
};

const faultOf = (what: string, path: string, error: unknown): ArchiveFault => {
  if (error instanceof ArchiveFault) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new ArchiveFault(`${what} "${path}": ${why}`, adviceFor(systemCode(error)), error);
};

const adviceFor = (code: string): string => {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'free space on the disk that holds the crawl, then resume';
    case 'EMFILE':
    case 'ENFILE':
      return 'raise the limit on open files (ulimit -n), then resume';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'make the crawl directory writable for this user, then resume';
    default:
      return 'check the disk that holds the crawl, then resume';
  }
};
