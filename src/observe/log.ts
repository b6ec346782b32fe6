/** The log: lines for a person, and the same as JSON lines in a file. */

import { plural } from '../lib/units.ts';
import { visible, visibleJson, visibleLines } from '../lib/visible.ts';
import type { JsonValue } from '../model/hooks.ts';
import { openLogFile } from './log-file.ts';
import { createRepeats, kindOf, type Repeat } from './repeats.ts';

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

/** What of a text goes into the file: a message may quote what a module or a server said. */
const TEXT_CHARACTERS_MAX = 8_000;

/** What is known beside the message: `thread`, `site`, `url`, `outcome`, `status`, `tookMs` ... */
export interface Fields {
  /**
   * Warnings with the same are of one kind; null for one that is counted where it comes from, and always said. Without
   * it, the words of the message decide.
   */
  readonly kind?: string | null;
  readonly [name: string]: JsonValue | undefined;
}

export type Log = (level: Level, message: string, fields?: Fields) => void;

export interface LogOptions {
  readonly path: string;
  readonly level: Level;
  /** Shows a line to the person at the terminal. */
  readonly show: (level: Level, message: string, fields: Fields) => void;
}

export interface OpenLog {
  readonly log: Log;
  /** Somebody moved the file away: the next line goes to a new one. */
  reopen(): void;
  /** Says what was counted and not said, and closes the file. */
  close(): void;
}

interface Warning {
  readonly message: string;
  readonly fields: Fields;
}

export const openLog = ({ path, level, show }: LogOptions): OpenLog => {
  const wanted = LEVELS.indexOf(level);
  const file = openLogFile(path);
  const repeats = createRepeats<Warning>();
  let lost = 0;
  let timer: NodeJS.Timeout | null = null;

  const write: Log = (at, message, fields = {}) => {
    if (file.write(lineOf(at, message, fields))) {
      if (lost === 0) return;
      const lines = lost;
      lost = 0;
      write('warn', `${plural(lines, 'line')} of the log could not be written before this one`);
    } else lost++;
  };
  // A message may quote a page, a server, or a module that quotes them.
  const say: Log = (at, message, fields = {}) => {
    show(at, visible(message), fields);
    write(at, visibleLines(message), fields);
  };
  const sum = (all: readonly Repeat<Warning>[]): void => {
    for (const { first, more, words } of all) say('warn', `${first.message} ${words}`, { ...first.fields, more });
  };
  /** A minute ends also when nothing more is logged. */
  const arm = (): void => {
    const next = repeats.nextMs();
    if (timer !== null || next === null) return;
    timer = setTimeout(
      () => {
        timer = null;
        sum(repeats.over(performance.now()));
        arm();
      },
      Math.max(0, next - performance.now()),
    ).unref();
  };

  return {
    log: (at, message, fields = {}) => {
      if (LEVELS.indexOf(at) > wanted) return;
      if (at !== 'warn' || fields.kind === null) return say(at, message, fields);
      if (repeats.note(fields.kind ?? kindOf(message), { message, fields }, performance.now()))
        say(at, message, fields);
      arm();
    },
    reopen: file.reopen,
    close: () => {
      if (timer !== null) clearTimeout(timer);
      sum(repeats.rest(performance.now()));
      file.close();
    },
  };
};

const lineOf = (level: Level, message: string, { kind, ...fields }: Fields): string =>
  visibleJson(
    JSON.stringify(
      { time: new Date().toISOString(), level, message, ...(kind ? { kind } : {}), ...fields },
      (_, value: unknown) =>
        typeof value === 'string' && value.length > TEXT_CHARACTERS_MAX
          ? `${value.slice(0, TEXT_CHARACTERS_MAX)}…`
          : value,
    ),
  );
