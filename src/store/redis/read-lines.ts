/**
 * Reads what Redis has of waiting, leased and given up links: the links themselves, or references to the files of a
 * frontier.
 *
 * Each of these texts tells by its form which of the two it is, so that one reading serves both.
 */

import { StoreFault } from '../../frontier/store.ts';
import { frontierFolder, openLineFiles } from './line-files.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import { readLeasedLine, readReference, type Reference } from './reference.ts';

/** One element of a line. */
export interface Element {
  readonly site: string;
  readonly text: string;
  /**
   * Where in it the next link begins, if it is the first of its line and some of it is taken: in a block bytes from 1,
   * in a reference its line; otherwise 0.
   */
  readonly headAt: number;
}

export interface LineReader {
  /** The links of an element that still wait; null when it cannot be read. */
  links(element: Element): Waiting[] | null;
  /** The link of a lease; null when it cannot be read. */
  leased(lease: string, site: string): Waiting | null;
  /** A link that was given up; null when it cannot be read. */
  givenUp(text: string): Waiting | null;
  /** The URL that a view names; empty for none, or when it is gone by now. */
  url(named: string, site: string): string;
  close(): void;
}

/** A link as a block holds it: four numbers and an address. */
const LINE = /^\d+ \d+ [0-7] \d+ https?:\/\/\S+$/;
const REFERENCE = /^[0-9a-z]+ [0-9a-z]+ \d+ \d+(?: \S+)?$/;
/** Its number, when it runs out, its link; where that was found; who holds it. */
const LEASE = /^\d+ \S+ (\d+ \d+ [0-7] \d+ https?:\/\/\S+)\n([^\n]*)\n[^\n/]+\/[^\n]*$/;
/** The same with file, offset, line and tries. */
const FILE_LEASE = /^\d+ \S+ ([0-9a-z]+ [0-9a-z]+ \d+ \d+)\n\n[^\n/]+\/[^\n]*$/;

export const openLineReader = (rowsPath: string): LineReader => {
  const files = openLineFiles(frontierFolder(rowsPath));
  const fromFiles = (reference: Reference, site: string): Waiting[] | null => {
    try {
      return files.waiting(reference, site);
    } catch (error) {
      if (error instanceof StoreFault) return null;
      throw error;
    }
  };
  const inFile = (text: string, site: string): Waiting | null => fromFiles(readLeasedLine(text), site)?.[0] ?? null;
  return {
    links: (element) => {
      if (element.text.includes('\n')) return linksIn(element);
      const reference = referenceOf(element);
      return reference && fromFiles(reference, element.site);
    },
    leased: (lease, site) => {
      const [, line, via] = LEASE.exec(lease) ?? [];
      if (line !== undefined) return readWaiting(line, via!, site);
      const reference = referenceOfLease(lease);
      return reference && (fromFiles(reference, site)?.[0] ?? null);
    },
    givenUp: (text) => {
      const [site = '', , second = '', line] = text.split('\n');
      if (line !== undefined) return LINE.test(line) ? readWaiting(line, second, site) : null;
      return REFERENCE.test(second) ? (fromFiles(readReference(second), site)?.[0] ?? null) : null;
    },
    url: (named, site) => (named.includes(' ') ? (inFile(named, site)?.link.url ?? '') : named),
    close: () => files.close(),
  };
};

/** Lines that still wait; null for a text that is no reference. */
export const referenceOf = ({ text, headAt }: Element): Reference | null => {
  if (!REFERENCE.test(text)) return null;
  const reference = readReference(text);
  const from = headAt > 0 ? headAt : reference.from;
  return from < reference.to ? { ...reference, from } : null;
};

/** Null for a lease that has its link itself. */
export const referenceOfLease = (lease: string): Reference | null => {
  const [, text] = FILE_LEASE.exec(lease) ?? [];
  return text === undefined ? null : readLeasedLine(text);
};

const linksIn = ({ text, site, headAt }: Element): Waiting[] | null => {
  const viaEnds = text.indexOf('\n');
  const rest = headAt > 0 ? behind(text, headAt) : text.slice(viaEnds + 1);
  if (rest === null || !rest.endsWith('\n')) return null;
  const lines = rest.slice(0, -1).split('\n');
  const via = text.slice(0, viaEnds);
  return lines.every((line) => LINE.test(line)) ? lines.map((line) => readWaiting(line, via, site)) : null;
};

/** Scripts count bytes, and an address may be written in other letters than those of one byte. */
const behind = (block: string, headAt: number): string | null => {
  const bytes = Buffer.from(block);
  return bytes[headAt - 2] === 0x0a ? bytes.toString('utf8', headAt - 1) : null;
};
