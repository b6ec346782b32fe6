/** The real binary on a terminal: what it writes is what a person's terminal would be sent. */

import { GOSSAMER, runBinary, type BinaryOptions, type Ran } from './binary.ts';

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export interface TerminalOptions extends BinaryOptions {
  /** How wide it is; a terminal that does not tell, without it. */
  readonly columns?: number;
}

/** Both outputs are one, in `stdout`, as on a terminal; without colours, which are escape sequences of our own. */
export const runInTerminal = (args: readonly string[], { columns, ...options }: TerminalOptions = {}): Promise<Ran> =>
  runBinary(
    [
      '--quiet',
      '--return',
      '--command',
      `${columns === undefined ? '' : `stty cols ${columns}; `}${[process.execPath, GOSSAMER, ...args].map(quoted).join(' ')}`,
      '/dev/null',
    ],
    { ...options, command: ['script'], env: { ...(options.env ?? process.env), NO_COLOR: '1', TERM: 'dumb' } },
  );
