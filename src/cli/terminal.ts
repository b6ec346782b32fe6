/** Where output goes: plain lines, and on a terminal one block that is drawn again in place. */

import { stripVTControlCharacters } from 'node:util';
import { cutToWidth, widthOf } from '../lib/text-width.ts';

export interface Terminal {
  readonly isLive: boolean;
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

export const createTerminal = (
  out: NodeJS.WriteStream = process.stdout,
  err: NodeJS.WriteStream = process.stderr,
): Terminal => {
  const isLive = out.isTTY === true && process.env.TERM !== 'dumb';
  let drawn: readonly string[] = [];
  const clear = (): string => (drawn.length > 0 ? `\x1b[${drawn.length}F\x1b[J` : '');
  const show = (lines: readonly string[]): string =>
    lines.map((line) => `${fit(line, out.columns || COLUMNS)}\n`).join('');
  return {
    isLive,
    print: (text) => void out.write(isLive ? `${clear()}${text}\n${show(drawn)}` : `${text}\n`),
    warn: (text) => {
      if (!isLive) return void err.write(`${text}\n`);
      out.write(clear());
      err.write(`${text}\n`);
      out.write(show(drawn));
    },
    draw: (lines) => {
      if (!isLive) return;
      out.write(clear() + show(lines));
      drawn = lines;
    },
    release: () => void (drawn = []),
  };
};

/** A line that wraps would make the block taller than we think: it is cut. */
const fit = (line: string, columns: number): string => {
  const plain = stripVTControlCharacters(line);
  return widthOf(plain) < columns ? line : cutToWidth(plain, columns - 1);
};

/** Columns that a line of output has: those of a terminal; a file or a pipe is as wide as it must be. */
export const outputColumns = (): number => (process.stdout.isTTY ? process.stdout.columns || COLUMNS : Infinity);

/** A line of a table as it can be shown: cut where a terminal would wrap it, whole for a file or a pipe. */
export const fitLine = (line: string): string => {
  const plain = stripVTControlCharacters(line);
  const columns = outputColumns();
  return widthOf(plain) <= columns ? line : cutToWidth(plain, columns);
};

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
