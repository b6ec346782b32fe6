/**
 * A block of links as it lies in a file: so that one link can be read without the others.
 *
 * A mark and the number of links; for each where the page that it was found on and its text lie, from the beginning
 * of the block, and how long they are; then the texts. All numbers have 4 bytes, the lowest first.
 */

export interface FileLink {
  /** As waiting-text.ts writes it; its tries are in the reference to it, and 0 here. */
  readonly text: string;
  readonly via: string;
}

const MARK = 0x4c_53_47_31;
export const HEAD_BYTES = 8;
export const ENTRY_BYTES = 16;

/** Where the entry of a link begins. */
export const entryAt = (link: number): number => HEAD_BYTES + ENTRY_BYTES * link;

export const blockBytes = (links: readonly FileLink[]): Buffer<ArrayBuffer> => {
  const texts: Buffer[] = [];
  const entries = Buffer.allocUnsafe(entryAt(links.length));
  entries.writeUInt32LE(MARK, 0);
  entries.writeUInt32LE(links.length, 4);
  let end = entries.length;
  const put = (text: string): readonly [at: number, bytes: number] => {
    const bytes = Buffer.from(text);
    texts.push(bytes);
    end += bytes.length;
    return [end - bytes.length, bytes.length];
  };
  let via: string | null = null;
  let viaPlace: readonly [number, number] = [0, 0];
  links.forEach((link, i) => {
    if (link.via !== via) [via, viaPlace] = [link.via, put(link.via)];
    [...viaPlace, ...put(link.text)].forEach((number, n) => entries.writeUInt32LE(number, entryAt(i) + 4 * n));
  });
  return Buffer.concat([entries, ...texts]);
};

/** How many links there are; null for bytes that are no block. */
export const readHead = (bytes: Buffer): number | null =>
  bytes.length >= HEAD_BYTES && bytes.readUInt32LE(0) === MARK ? bytes.readUInt32LE(4) : null;

export interface Entry {
  readonly viaAt: number;
  readonly viaBytes: number;
  readonly at: number;
  readonly bytes: number;
}

/** The entry that begins at that byte. */
export const readEntry = (bytes: Buffer, at: number): Entry => ({
  viaAt: bytes.readUInt32LE(at),
  viaBytes: bytes.readUInt32LE(at + 4),
  at: bytes.readUInt32LE(at + 8),
  bytes: bytes.readUInt32LE(at + 12),
});
