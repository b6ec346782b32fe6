/**
 * A block of lines as it lies in a file: so that one line can be read without the others.
 *
 * A mark and the number of lines; for each line where the page that it was found on and the line itself lie, from the
 * beginning of the block, and how long they are; then the texts. All numbers have 4 bytes, the lowest first.
 */

export interface FileLine {
  /** As link-text.ts writes it; its tries are in the reference to it, and 0 here. */
  readonly text: string;
  readonly via: string;
}

const MARK = 0x4c_53_47_31;
export const HEAD_BYTES = 8;
export const ENTRY_BYTES = 16;

/** Where the entry of a line begins. */
export const entryAt = (line: number): number => HEAD_BYTES + ENTRY_BYTES * line;

export const blockBytes = (lines: readonly FileLine[]): Buffer<ArrayBuffer> => {
  const texts: Buffer[] = [];
  const entries = Buffer.allocUnsafe(entryAt(lines.length));
  entries.writeUInt32LE(MARK, 0);
  entries.writeUInt32LE(lines.length, 4);
  let end = entries.length;
  const put = (text: string): readonly [at: number, bytes: number] => {
    const bytes = Buffer.from(text);
    texts.push(bytes);
    end += bytes.length;
    return [end - bytes.length, bytes.length];
  };
  let via: string | null = null;
  let viaPlace: readonly [number, number] = [0, 0];
  lines.forEach((line, i) => {
    if (line.via !== via) [via, viaPlace] = [line.via, put(line.via)];
    [...viaPlace, ...put(line.text)].forEach((number, n) => entries.writeUInt32LE(number, entryAt(i) + 4 * n));
  });
  return Buffer.concat([entries, ...texts]);
};

/** How many lines there are; null for bytes that are no block. */
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
