/** Where output goes: plain lines, and on a terminal one block that is drawn again in place. */

import { cutToWidth, widthOf } from '../lib/text-width.ts';

export interface Terminal {
  readonly isLive: boolean;
  /** How much it shows now; a person may change that at any time. */
  size(): { readonly columns: number; readonly rows: number };
  /** A line that stays, above the block if there is one. */
  print(text: string): void;
  /** A line that stays and tells of trouble, on the error output. */
  warn(text: string): void;
  /** Draws the block anew; only on a live terminal. */
  draw(lines: readonly string[]): void;
  /** Leaves the last block standing. */
  release(): void;
}

/** For a terminal that does not tell, or says 0. */
const COLUMNS = 80;
const ROWS = 24;

export const createTerminal = (
  out: NodeJS.WriteStream = process.stdout,
  err: NodeJS.WriteStream = process.stderr,
): Terminal => {
  const isLive = out.isTTY === true && process.env.TERM !== 'dumb';
  let drawn: readonly string[] = [];
  const size = (): { columns: number; rows: number } => ({ columns: out.columns || COLUMNS, rows: out.rows || ROWS });
  /** To the first line of the block. One that has become narrower has wrapped what was drawn. */
  const top = (): string => {
    const { columns } = size();
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return rows > 0 ? `\x1b[${rows}F` : '';
  };
  const clear = (): string => (drawn.length > 0 ? `${top()}\x1b[J` : '');
  const fitted = (lines: readonly string[]): string[] => {
    const { columns, rows } = size();
    // A line that wraps, or one too many, would make the block taller than we think.
    return lines.slice(0, Math.max(1, rows - 1)).map((line) => cutToWidth(line, columns - 1));
  };
  const show = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return {
    isLive,
    size,
    print: (text) => {
      if (!isLive) return void out.write(`${text}\n`);
      out.write(`${clear()}${text}\n${show((drawn = fitted(drawn)))}`);
    },
    warn: (text) => {
      if (!isLive) return void err.write(`${text}\n`);
      out.write(clear());
      err.write(`${text}\n`);
      out.write(show((drawn = fitted(drawn))));
    },
    draw: (lines) => {
      if (!isLive) return;
      const next = fitted(lines);
      // Written over line by line, so that nothing flickers; what is left of a taller block goes at the end.
      out.write(`${top()}${next.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`);
      drawn = next;
    },
    release: () => void (drawn = []),
  };
};

/** Columns that a line of output has: those of a terminal; a file or a pipe is as wide as it must be. */
export const outputColumns = (): number => (process.stdout.isTTY ? process.stdout.columns || COLUMNS : Infinity);

/** A line of a table as it can be shown: cut where a terminal would wrap it, whole for a file or a pipe. */
export const fitLine = (line: string): string => cutToWidth(line, outputColumns());

const colours = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint =
  (code: number) =>
  (text: string): string =>
    colours ? `\x1b[${code}m${text}\x1b[0m` : text;
export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const cyan = paint(36);
