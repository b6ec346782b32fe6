/** What an archive is to those who fill it: records are appended, and the unsettled end can be cut. */

import type { ArchiveEnd } from '../model/census.ts';

/** Where a store puts the records of settlements; one thread of the process appends. */
export interface Archive {
  /** Append all, in order, and say where each begins. Throws, having appended nothing, when the disk is full. */
  append(records: readonly Uint8Array[]): readonly { readonly file: string; readonly offset: number }[];
  /** Where it ends now. */
  end(): ArchiveEnd;
  /** Forget everything after this point. */
  cut(end: ArchiveEnd): void;
  /** Afterwards all that was appended is on disk, also through a power loss. */
  sync(): void;
  close(): void;
}

/** An archive that cannot go on or cannot be read; `advice` says what a person can do. */
export class ArchiveFault extends Error {
  readonly advice: string;
  /** The system's name for the cause (`ENOSPC`); empty when the system did not complain. */
  readonly code: string;
  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ArchiveFault';
    this.advice = advice;
    this.code = systemCode(cause);
  }
}

/** The code of an error of the system or of zlib; empty for any other. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * Bytes of one record, unpacked, that are read back. Far above any body that memory allows to be
 * fetched, and low enough that a damaged file cannot take all memory.
 */
export const RECORD_BYTES_MAX = 512 * 1024 * 1024;
