/** Writes the ledger of one fetch thread: a request is in its file before `sending` returns, so before it is sent. */

import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { createNoteFile, FILE_BYTES_MAX, packFile, runName } from './files.ts';
import {
  afterRequest,
  cursorOf,
  endLine,
  FORMAT,
  headLine,
  requestLine,
  type Cursor,
  type NotedEnd,
  type NotedRequest,
  type RunHead,
} from './format.ts';

/** Ends of requests wait this long to be written with the next request. A kill loses them: such an end is not known. */
const FLUSH_MS = 1_000;
/** Ends that wait are written when they are this long, whether or not a request is sent. */
const WAITING_CHARS_MAX = 64 * 1024;

export interface LedgerOptions {
  readonly dir: string;
  /** The crawl's clock now. */
  readonly now: () => number;
  readonly thread: string;
  readonly head: Omit<RunHead, 'format' | 'run' | 'thread' | 'at' | 'first'>;
  readonly fileBytesMax?: number;
}

export interface Ledger {
  /**
   * Notes a request that is about to be sent; gives its number. Throws a LedgerFault when it cannot be noted: then it
   * must not be sent.
   */
  sending(request: NotedRequest): number;
  ended(end: NotedEnd): void;
  /** Packs the last file. */
  close(): Promise<void>;
}

/** The ledger cannot be written. */
export class LedgerFault extends Error {
  readonly advice = 'free space on its disk, see that it can be written, then resume';
  constructor(cause: unknown) {
    super(`a request cannot be noted in the ledger: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

interface Current {
  readonly fd: number;
  readonly path: string;
  bytes: number;
}

export const openLedger = ({ dir, now, thread, head, fileBytesMax = FILE_BYTES_MAX }: LedgerOptions): Ledger => {
  const run = runName(now());
  const packing = new Set<Promise<void>>();
  const cursor: Cursor = cursorOf({ at: 0, first: 0 });
  let current: Current | null = null;
  let serial = 0;
  let waiting = ''; // ends that are not yet written
  let timer: NodeJS.Timeout | null = null;
  let fault: LedgerFault | null = null;

  const begin = (): Current => {
    const opened = createNoteFile(dir, { run, thread, serial: serial++ });
    current = { ...opened, bytes: 0 };
    const file: RunHead = { format: FORMAT, run, thread, at: Math.floor(now()), first: cursor.number, ...head };
    Object.assign(cursor, cursorOf(file));
    append(current, headLine(file));
    return current;
  };

  /** All or nothing: half a note in the middle of a file would spoil what follows. */
  const append = (file: Current, text: string): void => {
    try {
      // As a string: a character is a byte in latin1, and a buffer for it would cost more than the write.
      for (let at = writeSync(file.fd, text, null, 'latin1'); at < text.length; )
        at += writeSync(file.fd, text.slice(at), null, 'latin1');
    } catch (error) {
      try {
        ftruncateSync(file.fd, file.bytes);
      } catch {
        // Then half a note is the last one of its file, as after a kill.
      }
      throw error;
    }
    file.bytes += text.length;
  };

  const roll = (): void => {
    const full = current;
    if (!full) return;
    current = null;
    closeSync(full.fd);
    const packed = packFile(full.path)
      .catch(() => {})
      .finally(() => packing.delete(packed)); // what is not packed now is at the next start
    packing.add(packed);
  };

  const write = (line: (file: Current) => string): void => {
    if (fault) throw fault;
    try {
      const file = current ?? begin();
      append(file, line(file));
      waiting = '';
      if (file.bytes >= fileBytesMax) roll();
    } catch (error) {
      throw (fault = new LedgerFault(error));
    }
  };

  const flush = (): void => {
    timer = null;
    if (waiting === '' || fault) return;
    try {
      write(() => waiting);
    } catch {
      // Only ends are lost; the next request cannot be noted either, and that stops the crawl.
    }
  };

  return {
    sending: (request) => {
      write(() => waiting + requestLine(request, cursor));
      afterRequest(cursor, request);
      return cursor.number - 1;
    },
    ended: (end) => {
      waiting += endLine(end, cursor.number - 1);
      if (waiting.length > WAITING_CHARS_MAX) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    close: async () => {
      if (timer) clearTimeout(timer);
      flush();
      roll();
      await Promise.all(packing);
    },
  };
};
