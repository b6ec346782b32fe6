/** `gossamer status`: how far a crawl is, while it runs and after, once or again and again. */

import { setTimeout } from 'node:timers/promises';
import { lockOwner } from '../../folder/lock.ts';
import type { Identity } from '../../folder/folder.ts';
import { memberOf } from '../../folder/store-place.ts';
import { plural, readDurationMs, writeCount, writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { settledTotal, type Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { EMBEDDED, isShared } from '../../store/address.ts';
import type { Command } from '../command.ts';
import type { Read } from '../flags.ts';
import { print, printObject } from '../listing.ts';
import { censusObject } from '../progress.ts';
import { archiveIn, censusLines } from '../summary.ts';
import { bold, createTerminal, fitLine } from '../terminal.ts';
import { crawlDirOf, withCrawl } from './dir.ts';

/** Between two looks, when nobody says how long. */
const WATCH_MS = 2_000;
/** Oftener, the looks themselves would be much of the work. */
const WATCH_MS_LEAST = 100;
/** For a terminal that does not tell how many lines it has. */
const ROWS = 24;

export const statusCommand: Command = {
  name: 'status',
  usage: 'status <dir> [--watch [TIME]] [--json]',
  says: 'Show how far a crawl is: how many links are waiting, leased, settled (by outcome), parked and held.',
  flags: [
    {
      name: 'watch',
      value: '[TIME]',
      isValue: (word) => readDurationMs(word) !== null,
      says: `show it again every TIME (default ${writeDuration(WATCH_MS)}) until Ctrl-C; without a terminal, a line each time`,
    },
    { name: 'json', says: 'print one JSON object; with --watch, JSON lines' },
  ],
  example: 'gossamer status ./crawl --watch 5s',
  run: async (read) => {
    const dir = crawlDirOf(read);
    const everyMs = watchMsOf(read);
    const isJson = read.switches.has('json');
    if (everyMs !== null) return watch(dir, everyMs, isJson);
    const state = await look(dir);
    await (isJson ? printObject(objectOf(state)) : print(linesOf(state).join('\n')));
    return 0;
  },
};

/** Null where it is shown once. */
const watchMsOf = ({ switches, values }: Read): number | null => {
  const text = values.get('watch')?.[0];
  if (text === undefined) return switches.has('watch') ? WATCH_MS : null;
  const ms = readDurationMs(text);
  if (ms !== null && ms >= WATCH_MS_LEAST) return ms;
  throw new UsageError(
    `--watch "${text}" is not understood: write a time with its unit, such as 2s or 1m, of at least ${writeDuration(WATCH_MS_LEAST)}`,
  );
};

/** A crawl as it is found at one moment. */
interface State {
  readonly dir: string;
  readonly identity: Identity;
  /** The process that has it open; 0 when there is none. */
  readonly owner: number;
  readonly census: Census;
  /** Links that the member of this directory settled; null where the crawl has no other members. */
  readonly ownSettled: number | null;
  /** Other members that are at work, as far as the store knows. */
  readonly othersLive: number;
  readonly at: number;
}

/** Opens the crawl anew each time: it may be moved, or begun again, between two looks. */
const look = (dir: string): Promise<State> =>
  withCrawl(dir, async (crawl, identity) => {
    const isOne = !isShared(identity.settings.store ?? EMBEDDED);
    const members = isOne ? [] : await crawl.members();
    const isOwn = ({ member }: { member: string }): boolean => member === memberOf(identity);
    return {
      dir,
      identity,
      owner: lockOwner(dir) || 0,
      census: await crawl.census(),
      ownSettled: isOne ? null : (members.find(isOwn)?.settled ?? 0),
      othersLive: members.filter((one) => one.isLive && !isOwn(one)).length,
      at: Date.now(),
    };
  });

/** Goes on when the crawl ends, for another process may go on with it: Ctrl-C ends it, which is no fault. */
const watch = async (dir: string, everyMs: number, isJson: boolean): Promise<number> => {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const terminal = createTerminal();
  try {
    while (!stopping.signal.aborted) {
      const state = await look(dir);
      if (isJson) await printObject({ time: new Date(state.at).toISOString(), ...objectOf(state) });
      else if (terminal.isLive) terminal.draw(blockOf(state));
      else await print(lineOf(state));
      await setTimeout(everyMs, undefined, { signal: stopping.signal }).catch(() => {}); // told to end
    }
    return 0;
  } finally {
    terminal.release();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
};

const objectOf = ({ dir, identity, owner, census, ownSettled, othersLive }: State): Record<string, unknown> => ({
  dir,
  id: identity.id,
  createdAt: identity.createdAt,
  store: identity.settings.store ?? EMBEDDED,
  name: identity.settings.name,
  shards: identity.fixed.shards,
  process: owner || null,
  ...censusObject(census),
  ...(ownSettled === null ? {} : { otherMembersLive: othersLive, own: ownObject(dir, ownSettled) }),
});

/** What is this directory's alone; all other numbers are those of the whole crawl. */
const ownObject = (dir: string, settled: number): object => {
  const { files, bytes } = archiveIn(dir);
  return { settled, archiveFiles: files, archiveBytes: bytes };
};

const linesOf = ({ dir, identity, owner, census, ownSettled, othersLive, at }: State): string[] => {
  const { store = EMBEDDED, name } = identity.settings;
  return [
    fitLine(
      `${bold(`Crawl ${dir}`)} ${owner ? `runs in process ${owner}` : 'is not running'}${othersWords(owner, othersLive)}; created ${visible(identity.createdAt)}`,
    ),
    ...(store === EMBEDDED ? [] : [fitLine(visible(`  in ${store} as "${name}"`))]),
    ...censusLines(census, { dir, isShared: isShared(store), ownSettled }),
    ...(!owner && othersLive === 0 && census.leased > 0
      ? ['  leased links were under way when it ended; a resume frees them']
      : []),
    ...(census.next
      ? [
          fitLine(
            `  next visit ${visible(census.next.site)}, ${census.next.dueAt > at ? `${writeDuration(census.next.dueAt - at)} from now` : 'at once'}`,
          ),
        ]
      : []),
  ];
};

const othersWords = (owner: number, live: number): string => {
  if (live === 0) return '';
  return `${owner ? ', and' : ' here, but'} with ${plural(live, 'other member')}`;
};

const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 19);
const processOf = (owner: number): string => (owner ? `process ${owner} is at work` : 'no process is at work');

/** No taller than the terminal: what has scrolled away cannot be drawn over. */
const blockOf = (state: State): string[] => {
  const lines = [
    ...linesOf(state),
    `  ${clockOf(state.at)} UTC: ${processOf(state.owner)}; Ctrl-C ends this view alone`,
  ];
  const rows = (process.stdout.rows || ROWS) - 1;
  return lines.length <= rows ? lines : [...lines.slice(0, rows - 1), lines.at(-1)!];
};

const lineOf = ({ owner, census, at }: State): string =>
  `${clockOf(at)} ${plural(census.pages, 'page')} on ${plural(census.sites.known, 'site')}, ${writeCount(census.waiting)} waiting, ` +
  `${writeCount(census.leased)} leased, ${writeCount(census.parked)} parked, ${writeCount(census.held)} held, ` +
  `${writeCount(settledTotal(census))} settled; ${processOf(owner)}`;
