/** Appends blocks of waiting links to files. */

import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFault } from '../../../contract/fault.ts';
import { closedFault } from '../faults.ts';
import { blockBytes, type FileLink } from './block.ts';
import type { FilesLimits } from './limits.ts';
import { fileName } from './links.ts';
import type { Reference } from './reference.ts';

export interface Appended {
  /** One for each block, with no tries. */
  readonly references: readonly Reference[];
  /** Redis has these references now, or never will. Until then their file is kept though nothing refers to it. */
  release(): void;
}

export interface LinkWriter {
  /**
   * All blocks are in the file, and on disk, when this returns. A crash before Redis has their references leaves bytes
   * that nobody reads.
   */
  append(blocks: readonly (readonly FileLink[])[]): Appended;
  /** The number of the file that is appended to; those before it are never written again. */
  current(): number;
  isAwaited(file: number): boolean;
  close(): void;
}

/** Begins a new file: the tail of an older one may be torn. It is made with the first block. */
export const openLinkWriter = (
  folder: string,
  first: number,
  { fileBytesMax }: Pick<FilesLimits, 'fileBytesMax'>,
): LinkWriter => {
  let file = first;
  let descriptor: number | null = null;
  let end = 0;
  let isClosed = false;
  const awaited = new Map<number, number>();
  const hold = (which: number, by: number): void => {
    const left = (awaited.get(which) ?? 0) + by;
    if (left === 0) awaited.delete(which);
    else awaited.set(which, left);
  };

  const sync = (): void => {
    if (descriptor !== null) fdatasyncSync(descriptor);
  };
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };
  const roll = (): void => {
    sync();
    close();
    file += 1;
    end = 0;
  };
  const write = (bytes: Buffer): void => {
    if (descriptor === null) {
      mkdirSync(folder, { recursive: true });
      descriptor = openSync(join(folder, fileName(file)), 'wx');
      syncFolder(folder);
    }
    // At a place of our own, so that what is left of a write that failed is written over.
    for (let done = 0; done < bytes.length; )
      done += writeSync(descriptor, bytes, done, bytes.length - done, end + done);
    end += bytes.length;
  };

  return {
    append: (blocks) => {
      if (isClosed) throw closedFault();
      if (end >= fileBytesMax) roll();
      const texts = blocks.map(blockBytes);
      const before = end;
      try {
        write(Buffer.concat(texts));
        sync(); // Redis may be another machine: it would refer to what this one forgets without power
      } catch (cause) {
        throw new StoreFault(
          `waiting links cannot be written to "${folder}" (${(cause as Error).message})`,
          'see that its disk has room and can be written, then resume',
          cause,
        );
      }
      let offset = before;
      const references = blocks.map((links, i): Reference => {
        const reference = { file, offset, from: 0, to: links.length, tries: 0 };
        offset += texts[i]!.length;
        return reference;
      });
      const which = file;
      hold(which, 1);
      return { references, release: () => hold(which, -1) };
    },
    current: () => file,
    isAwaited: (which) => awaited.has(which),
    close: () => {
      isClosed = true;
      close();
    },
  };
};

/** A file that is new is found after a power loss only if its folder was synced too. */
const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Links in order, cut into blocks of bounded length. */
export const toBlocks = <T extends FileLink>(
  links: readonly T[],
  { blockLinksMax, blockCharsMax }: Pick<FilesLimits, 'blockLinksMax' | 'blockCharsMax'>,
): T[][] => {
  const blocks: T[][] = [];
  let chars = 0;
  for (const link of links) {
    const last = blocks.at(-1);
    const longer = chars + link.text.length + (link.via === last?.at(-1)?.via ? 0 : link.via.length);
    if (last && last.length < blockLinksMax && longer <= blockCharsMax) {
      last.push(link);
      chars = longer;
    } else {
      blocks.push([link]);
      chars = link.text.length + link.via.length;
    }
  }
  return blocks;
};
