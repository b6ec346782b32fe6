/** Progress of work that may be long: nothing at first, then a line that is drawn again, or one now and then. */

import type { Terminal } from './terminal.ts';

/** Work that is over sooner shows no progress. */
const QUIET_MS = 2_000;
/** Without a terminal, a line this often; on one, the line is drawn again. */
const LINE_MS = 5_000;
const DRAW_MS = 200;

export interface QuietProgress {
  /** The line is made only when it is shown; `atOnce` shows it whatever the time. */
  show(lineOf: () => string, atOnce?: boolean): void;
  release(): void;
}

export const createQuietProgress = (terminal: Terminal, isLive = terminal.isLive): QuietProgress => {
  const pauseMs = isLive ? DRAW_MS : LINE_MS;
  let lastAt = performance.now() + QUIET_MS - pauseMs;
  return {
    show: (lineOf, atOnce = false) => {
      const now = performance.now();
      if (!atOnce && now - lastAt < pauseMs) return;
      lastAt = now;
      if (isLive) terminal.draw([lineOf()]);
      else terminal.warn(lineOf());
    },
    release: () => {
      terminal.draw([]);
      terminal.release();
    },
  };
};
