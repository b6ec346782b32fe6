/** Reads lines of waiting links from the files of a frontier. */

import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreFault } from '../../frontier/store.ts';
import { ENTRY_BYTES, entryAt, readEntry, readHead, type Entry, type FileLine } from './line-block.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import { linesIn, triesOf, type Reference } from './reference.ts';

/** The folder beside the rows of the member that has them. */
export const frontierFolder = (rowsPath: string): string => join(dirname(rowsPath), 'frontier');

export const lineFileName = (file: number): string => `lines-${String(file).padStart(6, '0')}.dat`;

/** The numbers of the files that are there, in their order. */
export const lineFilesIn = (folder: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => /^lines-(\d+)\.dat$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

export interface LineFiles {
  /**
   * All lines of a reference, in their order. Throws a StoreFault when they are not there: also when the crawl runs,
   * and they are settled by now.
   */
  lines(reference: Reference): FileLine[];
  /** The links of a reference, with how often each was claimed. */
  waiting(reference: Reference, site: string): Waiting[];
  /** Forgets a file that is deleted. */
  drop(file: number): void;
  close(): void;
}

/** Lines of many sites lie in few files; a crawl with more of them opens some again. */
const OPEN_MAX = 16;
/** One read for a line of a usual block: what a page gives one site, entries and texts. */
const GLANCE_BYTES = 4_096;

export const openLineFiles = (folder: string): LineFiles => {
  /** The one used last is the last. */
  const open = new Map<number, number>();

  const drop = (file: number): void => {
    const descriptor = open.get(file);
    if (descriptor !== undefined) closeSync(descriptor);
    open.delete(file);
  };
  const descriptorOf = (file: number): number => {
    let descriptor = open.get(file);
    if (descriptor === undefined) {
      for (const oldest of open.keys()) {
        if (open.size < OPEN_MAX) break;
        drop(oldest);
      }
      descriptor = openSync(join(folder, lineFileName(file)), 'r');
    }
    open.delete(file);
    open.set(file, descriptor);
    return descriptor;
  };
  const read = (file: number, from: number, bytes: number): Buffer => {
    const buffer = Buffer.allocUnsafe(bytes);
    let got = 0;
    while (got < bytes) {
      const more = readSync(descriptorOf(file), buffer, got, bytes - got, from + got);
      if (more === 0) break;
      got += more;
    }
    return buffer.subarray(0, got);
  };

  const lines = (reference: Reference): FileLine[] => {
    try {
      return linesIn(reference) === 1 ? [readOne(read, reference)] : readAll(read, reference);
    } catch (cause) {
      const { file, offset } = reference;
      throw new StoreFault(
        `waiting links cannot be read from "${join(folder, lineFileName(file))}" at ${offset} (${(cause as Error).message})`,
        'restore that directory to the state that it had together with Redis',
        cause,
      );
    }
  };

  return {
    lines,
    waiting: (reference, site) =>
      lines(reference).map(({ text, via }, i) => ({
        ...readWaiting(text, via, site),
        tries: triesOf(reference, reference.from + i),
      })),
    drop,
    close: () => [...open.keys()].forEach(drop),
  };
};

type Read = (file: number, from: number, bytes: number) => Buffer;

const readOne = (read: Read, { file, offset, from }: Reference): FileLine => {
  const glance = read(file, offset, GLANCE_BYTES);
  checkHead(glance, from);
  const bytesAt = (at: number, bytes: number): Buffer =>
    at + bytes <= glance.length ? glance.subarray(at, at + bytes) : whole(read(file, offset + at, bytes), bytes);
  return textsOf(readEntry(bytesAt(entryAt(from), ENTRY_BYTES), 0), bytesAt);
};

const readAll = (read: Read, { file, offset, from, to }: Reference): FileLine[] => {
  checkHead(read(file, offset, entryAt(0)), to - 1);
  const entries = whole(read(file, offset + entryAt(from), entryAt(to) - entryAt(from)), entryAt(to) - entryAt(from));
  const places = Array.from({ length: to - from }, (_, i) => readEntry(entries, i * ENTRY_BYTES));
  // In the order of their lines, with the page of the first before it.
  const [begin, last] = [places[0]!.viaAt, places.at(-1)!];
  const texts = whole(read(file, offset + begin, last.at + last.bytes - begin), last.at + last.bytes - begin);
  return places.map((entry) => textsOf(entry, (at, bytes) => texts.subarray(at - begin, at - begin + bytes)));
};

const textsOf = ({ viaAt, viaBytes, at, bytes }: Entry, bytesAt: (at: number, bytes: number) => Buffer): FileLine => ({
  via: bytesAt(viaAt, viaBytes).toString(),
  text: bytesAt(at, bytes).toString(),
});

const checkHead = (bytes: Buffer, line: number): void => {
  const lines = readHead(bytes);
  if (lines === null) throw new Error('no block begins there');
  if (lines <= line) throw new Error(`the block has ${lines} lines`);
};

const whole = (bytes: Buffer, wanted: number): Buffer => {
  if (bytes.length < wanted) throw new Error('the file ends too early');
  return bytes;
};
