/** `gossamer migrate`: moves a stopped crawl to another store, or to another number of shards. */

import { migrateCrawl, type Migrated, type MoveProgress, type Side } from '../../care/migrate.ts';
import { SHARDS_MAX } from '../../care/migrate/places.ts';
import { plural, writeBytes, writeCount } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { knownTotal, settledTotal, type Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { SETTINGS } from '../../model/setting-table.ts';
import type { Command, ExitCode } from '../command.ts';
import type { Read } from '../flags.ts';
import { print, printObject } from '../listing.ts';
import { censusObject } from '../progress.ts';
import { bold, createTerminal, dim, type Terminal } from '../terminal.ts';
import { crawlDirsOf } from './dir.ts';

/** A move that is over sooner shows no progress. */
const QUIET_MS = 1_000;
/** Without a terminal, a line this often; on one, the line is drawn again. */
const LINE_MS = 5_000;
const DRAW_MS = 200;

export const migrateCommand: Command = {
  name: 'migrate',
  usage: 'migrate <dir>... --to WHERE [--from WHERE] [--name NAME] [--shards N] [--json]',
  says:
    'Move a stopped crawl to another store, or to another number of shards: every link, page, site and clock. The crawl stays where it is until ' +
    'the copy is whole, so a move that was interrupted is simply run again. Of a crawl with several members, give the directories of all: each keeps its archive. The archive stays in <dir>; passwords can be in GOSSAMER_STORE (from) and GOSSAMER_STORE_TO.',
  flags: [
    {
      name: 'to',
      value: 'WHERE',
      says: 'sqlite (in the directory), redis://HOST or postgres://HOST/DB; omit it with --shards, to stay where it is',
    },
    { name: 'from', value: 'WHERE', says: 'where it is now, which the crawl knows: checked, and good for a password' },
    { name: SETTINGS.name.flag, value: 'NAME', says: SETTINGS.name.says },
    {
      name: 'shards',
      value: 'N',
      says: `slices that the sites are dealt into, 1 to ${SHARDS_MAX} (default: as it has now)`,
    },
    { name: 'json', says: 'print one JSON object' },
  ],
  example: 'gossamer migrate ./crawl --to redis://127.0.0.1 && gossamer resume ./crawl',
  goesOnUnread: true,
  run: async (read) => {
    const dirs = crawlDirsOf(read);
    const isJson = read.switches.has('json');
    const terminal = createTerminal();
    const stopping = new AbortController();
    // A second one need not wait: a move can be killed at any moment.
    const stop = (): void => (stopping.signal.aborted ? process.exit(130) : stopping.abort());
    process.on('SIGINT', stop).on('SIGTERM', stop);
    try {
      const migrated = await migrateCrawl({
        dirs,
        from: flagValue(read, 'from'),
        to: flagValue(read, 'to'),
        name: flagValue(read, SETTINGS.name.flag),
        shards: shardsOf(read),
        say: (text) => terminal.warn(visible(text)),
        onProgress: showProgress({ ...terminal, isLive: terminal.isLive && !isJson }),
        stop: stopping.signal,
      });
      terminal.draw([]);
      await (isJson ? printObject(objectOf(dirs, migrated)) : print(linesOf(dirs, migrated).join('\n')));
      return (migrated.kind === 'stopped' ? 3 : 0) satisfies ExitCode;
    } finally {
      terminal.release();
      process.off('SIGINT', stop).off('SIGTERM', stop);
    }
  },
};

const flagValue = ({ values }: Read, name: string): string | undefined => values.get(name)?.[0];

const shardsOf = (read: Read): number | undefined => {
  const text = flagValue(read, 'shards');
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new UsageError(`--shards "${text}" is not understood: write a whole number`);
  return Number(text);
};

const showProgress = ({ isLive, draw, warn }: Terminal): ((progress: MoveProgress) => void) => {
  const startedAt = performance.now();
  const everyMs = isLive ? DRAW_MS : LINE_MS;
  let lastAt = startedAt + QUIET_MS - everyMs;
  return (progress) => {
    const now = performance.now();
    // The end may take its time and tells nothing meanwhile.
    if (now - lastAt < everyMs && !(progress.phase === 'finishing' && now - startedAt >= QUIET_MS)) return;
    lastAt = now;
    const line = lineOf(progress, now - startedAt);
    if (isLive) draw([line]);
    else warn(line);
  };
};

const lineOf = ({ phase, links, linksTotal, pages, pagesTotal }: MoveProgress, elapsedMs: number): string => {
  if (phase === 'finishing') return 'all is copied: indexes and counters are next';
  const total = linksTotal + pagesTotal;
  const rate = ((links + pages) * 1_000) / elapsedMs;
  return (
    `moved ${writeCount(links)} of ${plural(linksTotal, 'waiting link')}, ${writeCount(pages)} of ${plural(pagesTotal, 'page')}` +
    `${total > 0 ? ` (${Math.floor((100 * (links + pages)) / total)} %)` : ''}, ${writeCount(rate)}/s`
  );
};

const linesOf = (dirs: readonly string[], migrated: Migrated): string[] => {
  const dir = dirs.join(' ');
  switch (migrated.kind) {
    case 'stopped':
      return [`stopped; the crawl "${dir}" is where it was. Run it again to move it`];
    case 'finished':
      return [
        bold(`Crawl ${dir} was moved to ${visible(migrated.store)} before; what was left to clean up is done now`),
        ...leftLines(migrated.left),
      ];
    case 'moved':
      return [
        bold(`Crawl ${dir} was moved to ${placeOf(migrated.to)}`),
        ...tableOf(migrated.from, migrated.to),
        ...leftLines(migrated.left),
        dim('  go on'),
        ...dirs.map((one) => `    gossamer resume ${one}`),
      ];
    default:
      return migrated satisfies never;
  }
};

const objectOf = (dirs: readonly string[], migrated: Migrated): object =>
  migrated.kind === 'moved'
    ? { dir: dirs[0], dirs, ...migrated, from: sideObject(migrated.from), to: sideObject(migrated.to) }
    : { dir: dirs[0], dirs, ...migrated };

const sideObject = ({ store, name, shards, census }: Side): object => ({
  store,
  name,
  shards,
  ...censusObject(census),
});

const placeOf = ({ store, name, shards }: Side): string =>
  `${visible(store)}${store.includes('://') ? ` as "${visible(name)}"` : ''}, ${plural(shards, 'shard')}`;

const leftLines = (left: readonly string[]): string[] =>
  left.map((path) => `  ${visible(path)} is what it was before: delete it when you do not need it`);

const ROWS: readonly (readonly [string, (census: Census) => string])[] = [
  ['pages', (census) => writeCount(census.pages)],
  ['links', (census) => writeCount(knownTotal(census))],
  ['waiting', (census) => writeCount(census.waiting)],
  ['parked', (census) => writeCount(census.parked)],
  ['held', (census) => writeCount(census.held)],
  ['settled', (census) => writeCount(settledTotal(census))],
  ['sites', (census) => writeCount(census.sites.known)],
  ['archive', (census) => writeBytes(census.archivedBytes)],
];

const tableOf = (from: Side, to: Side): string[] => [
  `  ${''.padEnd(10)}${'before'.padStart(14)}${'after'.padStart(14)}`,
  ...ROWS.map(
    ([name, write]) => `  ${name.padEnd(10)}${write(from.census).padStart(14)}${write(to.census).padStart(14)}`,
  ),
];
