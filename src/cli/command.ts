/** What a command of the binary is: its words, its flags, its help, its work. */

import type { Flag, Read } from './flags.ts';

export interface Command {
  readonly name: string;
  /** `crawl <url-or-seed-file>...`: what is typed. */
  readonly usage: string;
  readonly says: string;
  readonly flags: readonly Flag[];
  readonly example: string;
  /** It does more than print: when nobody reads its output any more it goes on, to the exit code of its real end. */
  readonly goesOnUnread?: true;
  /** Resolves with the exit code. */
  readonly run: (read: Read) => Promise<number>;
}

export const EXIT_CODES = {
  0: 'finished, or a limit was reached',
  1: 'the crawl stopped because of a fault and can be resumed; for verify: damage was found; for audit: a violation was found, or a ledger cannot be read; for show and explain: the URL is not known',
  2: 'wrong use: a sentence says what to do, and nothing was changed',
  3: 'stopped by Ctrl-C or SIGTERM, in order; it can be resumed; for export: nothing was written to its file',
  4: 'stopped because the disk is full or below --disk-reserve; it can be resumed',
  5: 'finished, but the origin of a seed could not be reached and is parked; "gossamer resume DIR --retry-parked" asks again',
  130: 'stopped at once by a second Ctrl-C; it can be resumed',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

/** Understood by every command. */
export const EVERYWHERE: readonly Flag[] = [{ name: 'help', says: 'show this help' }];
