/** What SQLite and the disk say, in words that tell a person what to do. */

import { StoreFault } from '../../contract/fault.ts';

const ADVICE: Readonly<Record<number, string>> = {
  5: 'end the program that holds the database open', // SQLITE_BUSY
  8: 'make the directory and its files writable', // SQLITE_READONLY
  10: 'look at the disk: reading or writing it failed', // SQLITE_IOERR
  11: 'the database is damaged: restore it from a copy', // SQLITE_CORRUPT
  13: 'free space on the disk, then resume', // SQLITE_FULL
  14: 'look at the path and its permissions', // SQLITE_CANTOPEN
  26: 'the file is not a database: choose another directory', // SQLITE_NOTADB
};

export const storeFault = (error: unknown): StoreFault => {
  if (error instanceof StoreFault) return error;
  const { message, advice, errcode } = error as { message: string; advice?: string; errcode?: number };
  if (advice !== undefined) return new StoreFault(message, advice, error);
  if (errcode === undefined)
    return new StoreFault(`the store failed: ${message}`, 'this is a defect: please report it', error);
  return new StoreFault(`the store failed: ${message}`, ADVICE[errcode & 0xff] ?? `SQLite says ${errcode}`, error);
};
