/** The real binary on a terminal: what it writes is what a person's terminal would be sent. */

import { GOSSAMER, startBinary, type BinaryOptions, type Ran, type Running } from './binary.ts';
import type { ScreenSize } from './screen.ts';

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

const start = (args: readonly string[], { before, term }: { before: string; term: string }, options: BinaryOptions) =>
  startBinary(
    [
      ...['--quiet', '--flush', '--return', '--command'],
      `${before}exec ${[process.execPath, GOSSAMER, ...args].map(quoted).join(' ')}`,
      '/dev/null',
    ],
    { ...options, command: ['script'], env: { ...(options.env ?? process.env), NO_COLOR: '1', TERM: term } },
  );

export interface TerminalOptions extends BinaryOptions {
  /** How wide it is; a terminal that does not tell, without it. */
  readonly columns?: number;
}

/** Both outputs are one, in `stdout`, as on a terminal; without colours, which are escape sequences of our own. */
export const runInTerminal = (args: readonly string[], { columns, ...options }: TerminalOptions = {}): Promise<Ran> =>
  start(args, { before: columns === undefined ? '' : `stty cols ${columns}; `, term: 'dumb' }, options).ended;

/** On a terminal of that size, where the live view is drawn. */
export const startInView = (
  args: readonly string[],
  { columns, rows }: ScreenSize,
  options: BinaryOptions = {},
): Running => start(args, { before: `stty cols ${columns} rows ${rows} && `, term: 'xterm' }, options);
