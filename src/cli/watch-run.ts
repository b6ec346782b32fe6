/** Runs an open crawl in the foreground: shows it, listens to signals, and ends with its exit code. */

import { plural } from '../lib/units.ts';
import { logPathOf } from '../folder/log-path.ts';
import type { OpenCrawl } from '../run/open.ts';
import { startRun } from '../run/run.ts';
import type { Run } from '../run/run-options.ts';
import type { EndReason } from '../run/run-end.ts';
import { visibleJson, visibleLines } from '../lib/visible.ts';
import { LEVELS, openLog, type Level } from '../observe/log.ts';
import { isShared } from '../store/address.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Phase, Snapshot } from '../observe/snapshot.ts';
import type { ExitCode } from './command.ts';
import type { Flag, Read } from './flags.ts';
import { blockOf } from './live-view.ts';
import { lineOf, objectOf } from './progress.ts';
import { summaryOf } from './summary.ts';
import { createTerminal, red, type Terminal } from './terminal.ts';

/** Without a terminal, a line this often. */
const LINE_MS = 5_000;
/** A store that opens sooner is not worth a line. */
const OPENING_QUIET_MS = 1_000;

export const RUN_FLAGS: readonly Flag[] = [
  { name: 'log-level', value: LEVELS.join('|'), says: 'default info; debug logs a line per page' },
  { name: 'quiet', says: 'show nothing but faults' },
  { name: 'json', says: 'print progress and summary as JSON lines' },
];

export interface Shown {
  readonly level: Level;
  readonly quiet: boolean;
  readonly json: boolean;
}

export const readShown = (read: Read): Shown => {
  const level = (read.values.get('log-level')?.[0] ?? 'info') as Level;
  if (!LEVELS.includes(level))
    throw new UsageError(`--log-level "${level}" is not known: choose one of ${LEVELS.join(', ')}`);
  return { level, quiet: read.switches.has('quiet'), json: read.switches.has('json') };
};

const EXITS: Readonly<Record<EndReason, ExitCode>> = {
  finished: 0,
  'max-pages': 0,
  'max-duration': 0,
  stopped: 3,
  halted: 130,
  disk: 4,
  fault: 1,
};

export const watchRun = async (
  crawl: OpenCrawl,
  shown: Shown,
  options: { retryParked: boolean },
): Promise<ExitCode> => {
  const {
    dir,
    store,
    credentials,
    change,
    identity: { settings, member },
  } = crawl;
  const terminal = createTerminal();
  const { log, reopen, close } = openLog({
    path: logPathOf(dir, settings),
    level: shown.level,
    show: (level, message) => {
      if (level === 'error' || (level === 'warn' && !shown.quiet) || level === 'debug')
        terminal.warn(level === 'debug' ? message : `${red(level)} ${message}`);
    },
  });
  // Their number alone: ten thousand rules are no line of a log. They are in crawl.json.
  log('info', 'run begins', { dir, settings: { ...settings, sites: settings.sites.length } });
  const show = shownBy(shown, {
    terminal,
    block: (snapshot) => blockOf(snapshot, { dir, settings, size: terminal.size() }),
    line: (snapshot) => lineOf(snapshot, settings),
  });

  const run = startRun({
    dir,
    settings,
    store,
    member,
    credentials,
    change,
    log,
    onSnapshot: show,
    watched: !shown.quiet,
    onMetrics: (url) => void (shown.quiet || terminal.warn(`metrics at ${url}`)),
    logPages: shown.level === 'debug',
    ...options,
  });
  const forget = listen(run, { warn: terminal.warn, quiet: shown.quiet, reopen });
  try {
    const end = await run.ended;
    terminal.release();
    log('info', `run ends: ${end.reason}, ${plural(end.census?.pages ?? 0, 'page')}`, {
      reason: end.reason,
      pages: end.census?.pages ?? 0,
      pagesThisRun: end.snapshot.pagesThisRun,
      reread: end.reread,
    });
    if (end.fault) log('error', `${end.fault.message}${end.fault.advice ? `: ${end.fault.advice}` : ''}`);
    if (end.fault && shown.level === 'debug') terminal.warn(visibleLines(end.fault.stack));
    if (shown.json)
      terminal.print(
        jsonOf({
          ...objectOf(end.snapshot),
          reason: end.reason,
          parkedSeeds: end.parkedSeeds,
          reread: end.reread,
          dir,
        }),
      );
    else if (!shown.quiet) terminal.print(summaryOf(end, { dir, isShared: isShared(store.url) }));
    return end.parkedSeeds ? 5 : EXITS[end.reason];
  } finally {
    forget();
    close();
    crawl.lock.release();
  }
};

const jsonOf = (object: object): string => visibleJson(JSON.stringify(object));

interface Parts {
  readonly terminal: Terminal;
  readonly block: (snapshot: Snapshot) => string[];
  readonly line: (snapshot: Snapshot) => string;
}

const shownBy = ({ quiet, json }: Shown, { terminal, block, line }: Parts): ((snapshot: Snapshot) => void) => {
  if (quiet) return () => {};
  let lastAt = -Infinity;
  let lastPhase: Phase | null = null;
  return (snapshot) => {
    if (snapshot.phase === 'ended') return terminal.isLive && !json ? terminal.draw(block(snapshot)) : undefined;
    if (terminal.isLive && !json) return terminal.draw(block(snapshot));
    if (snapshot.phase === 'opening' && snapshot.elapsedMs < OPENING_QUIET_MS) return;
    const isOpen = lastPhase === 'opening' && snapshot.phase !== 'opening';
    if (!isOpen && performance.now() - lastAt < LINE_MS) return;
    lastAt = performance.now();
    lastPhase = snapshot.phase;
    terminal.print(json ? jsonOf(objectOf(snapshot)) : line(snapshot));
  };
};

interface Ears {
  readonly warn: (text: string) => void;
  readonly quiet: boolean;
  /** Opens the log anew. */
  readonly reopen: () => void;
}

/** The first signal stops in order, a second one at once; SIGUSR2 is for whoever renamed the log. */
const listen = (run: Run, { warn, quiet, reopen }: Ears): (() => void) => {
  let asked = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    asked++;
    if (asked === 1) {
      if (!quiet) warn(`${signal}: no new visits; those under way end. Once more stops at once.`);
      run.stop();
    } else run.halt();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGUSR2', reopen);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGUSR2', reopen);
  };
};
