/** A terminal's screen, as far as this program uses one: what stands on it after some output. */

import { widthOf } from '../../src/lib/text-width.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Screen {
  readonly lines: readonly string[];
  /** Columns of the widest line that was ever written, and whether one went over the edge. */
  readonly widest: number;
  readonly wrapped: boolean;
}

/** Text, line ends, "up to the start of a line", "erase to the end" of line and screen; colours take no place. */
const PIECES = /\x1b\[(\d*)F|\x1b\[J|\x1b\[K|\x1b\[[\d;]*m|\r|\n|[^\x1b\r\n]+|\x1b/g;

export const screenOf = (output: string, { columns, rows }: ScreenSize): Screen => {
  const lines: string[] = [''];
  let at = 0;
  let written = '';
  let [widest, wrapped] = [0, false];
  const put = (text: string): void => {
    written += text;
    widest = Math.max(widest, widthOf(written));
    wrapped ||= widthOf(written) > columns;
    lines[at] = written + [...(lines[at] ?? '')].slice([...written].length).join('');
  };
  for (const [piece, up] of output.matchAll(PIECES)) {
    if (piece === '\n') {
      at++;
      written = '';
      lines[at] ??= '';
    } else if (up !== undefined) {
      // What has left the screen cannot be reached.
      at = Math.max(at - Number(up || 1), lines.length - rows, 0);
      written = '';
    } else if (piece === '\r') written = '';
    else if (piece === '\x1b[J') lines.splice(at, lines.length, written);
    else if (piece === '\x1b[K') lines[at] = written;
    else if (!piece.startsWith('\x1b')) put(piece);
  }
  return { lines: lines.slice(-rows), widest, wrapped };
};
