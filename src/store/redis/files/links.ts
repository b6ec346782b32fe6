/** Reads waiting links from files. */

import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFault } from '../../../contract/fault.ts';
import type { Waiting } from '../../../model/waiting.ts';
import { readWaiting } from '../../waiting-text.ts';
import { ENTRY_BYTES, entryAt, readEntry, readHead, type Entry, type FileLink } from './block.ts';
import { linksIn, triesOf, type Reference } from './reference.ts';

export const fileName = (file: number): string => `lines-${String(file).padStart(6, '0')}.dat`;

/** The numbers of the files that are there, in their order. */
export const filesIn = (folder: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => /^lines-(\d+)\.dat$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

export interface LinkFiles {
  /**
   * Links as they lie in their file, in their order. Throws a StoreFault when they are not there: also when the crawl
   * runs, and they are settled by now.
   */
  texts(reference: Reference): FileLink[];
  /** The links themselves, with how often each was claimed. */
  waiting(reference: Reference, site: string): Waiting[];
  /** Forgets a file that is deleted. */
  forget(file: number): void;
  close(): void;
}

/** Links of many sites lie in few files; a crawl with more of them opens some again. */
const OPEN_MAX = 16;
/** One read for a link of a usual block: what a page gives one site, entries and texts. */
const GLANCE_BYTES = 4_096;

export const openLinkFiles = (folder: string): LinkFiles => {
  /** The one used last is the last. */
  const open = new Map<number, number>();

  const forget = (file: number): void => {
    const descriptor = open.get(file);
    if (descriptor !== undefined) closeSync(descriptor);
    open.delete(file);
  };
  const descriptorOf = (file: number): number => {
    let descriptor = open.get(file);
    if (descriptor === undefined) {
      for (const oldest of open.keys()) {
        if (open.size < OPEN_MAX) break;
        forget(oldest);
      }
      descriptor = openSync(join(folder, fileName(file)), 'r');
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

  const unreadable = ({ file, offset }: Reference, cause: Error): StoreFault =>
    new StoreFault(
      `waiting links cannot be read from "${join(folder, fileName(file))}" at ${offset} (${cause.message})`,
      'restore that directory to the state that it had together with Redis',
      cause,
    );
  const texts = (reference: Reference): FileLink[] => {
    try {
      return linksIn(reference) === 1 ? [readOne(read, reference)] : readAll(read, reference);
    } catch (cause) {
      throw unreadable(reference, cause as Error);
    }
  };

  return {
    texts,
    waiting: (reference, site) =>
      texts(reference).map(({ text, via }, i) => {
        const waiting = readWaiting(text, via, site);
        if (waiting === null) throw unreadable(reference, new Error('what lies there is no link'));
        return { ...waiting, tries: triesOf(reference, reference.from + i) };
      }),
    forget,
    close: () => [...open.keys()].forEach(forget),
  };
};

type Read = (file: number, from: number, bytes: number) => Buffer;

const readOne = (read: Read, { file, offset, from }: Reference): FileLink => {
  const glance = read(file, offset, GLANCE_BYTES);
  checkHead(glance, from);
  const bytesAt = (at: number, bytes: number): Buffer =>
    at + bytes <= glance.length ? glance.subarray(at, at + bytes) : whole(read(file, offset + at, bytes), bytes);
  return textsOf(readEntry(bytesAt(entryAt(from), ENTRY_BYTES), 0), bytesAt);
};

const readAll = (read: Read, { file, offset, from, to }: Reference): FileLink[] => {
  checkHead(read(file, offset, entryAt(0)), to - 1);
  const entries = whole(read(file, offset + entryAt(from), entryAt(to) - entryAt(from)), entryAt(to) - entryAt(from));
  const places = Array.from({ length: to - from }, (_, i) => readEntry(entries, i * ENTRY_BYTES));
  // In their order, with the page of the first before it.
  const [begin, last] = [places[0]!.viaAt, places.at(-1)!];
  const texts = whole(read(file, offset + begin, last.at + last.bytes - begin), last.at + last.bytes - begin);
  return places.map((entry) => textsOf(entry, (at, bytes) => texts.subarray(at - begin, at - begin + bytes)));
};

const textsOf = ({ viaAt, viaBytes, at, bytes }: Entry, bytesAt: (at: number, bytes: number) => Buffer): FileLink => ({
  via: bytesAt(viaAt, viaBytes).toString(),
  text: bytesAt(at, bytes).toString(),
});

const checkHead = (bytes: Buffer, link: number): void => {
  const links = readHead(bytes);
  if (links === null) throw new Error('no block begins there');
  if (links <= link) throw new Error(`the block has ${links} links`);
};

const whole = (bytes: Buffer, wanted: number): Buffer => {
  if (bytes.length < wanted) throw new Error('the file ends too early');
  return bytes;
};
