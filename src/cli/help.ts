/** What `--help` prints: for the whole, for a command, and for all settings. Each fits a screen. */

import { widthOf } from '../lib/text-width.ts';
import { VERSION } from '../folder/version.ts';
import { EVERYWHERE, type Command, type ExitCode } from './command.ts';
import type { Flag } from './flags.ts';
import { SETTING_NAMES, SETTINGS, type Whose } from '../model/setting-table.ts';
import { GROUPS, SETTING_FLAGS } from './setting-flags.ts';

/** Columns of a terminal that nobody made wider. */
const COLUMNS = 80;
/** Where descriptions begin. */
const MARGIN = 28;

/** In few words, so that the overview fits a screen; docs/reference/exit-codes.md has them all. */
const EXITS: Readonly<Record<Exclude<ExitCode, 130>, string>> = {
  0: 'finished, or a limit was reached',
  1: 'a fault',
  2: 'wrong use',
  3: 'stopped',
  4: 'the disk is full',
  5: 'finished, but a seed could not be reached',
};

const exits = Object.entries(EXITS).map(([code, says]) => `${code} ${says}`);

export const overviewOf = (commands: readonly Command[]): string =>
  [
    `gossamer ${VERSION}: a polite web crawler that loses nothing`,
    'Start here: gossamer crawl https://example.org/ --email you@example.org',
    'Usage: gossamer <command> [flags]        gossamer <command> --help says more',
    ...commands.map((command) => `  ${command.name.padEnd(12)}${briefOf(command)}`),
    `Exit codes: ${exits.slice(0, 3).join('; ')};`,
    `            ${exits.slice(3).join('; ')}`,
  ].join('\n');

/** What a command does, in a few words. */
export const briefOf = ({ says }: Pick<Command, 'says'>): string => says.split(/[.:](?:\s|$)/)[0]!;

export const helpOf = (command: Command): string => {
  const flags = [...command.flags, ...EVERYWHERE];
  return [
    `Usage: gossamer ${command.usage}`,
    '',
    ...wrap(command.says, COLUMNS),
    '',
    ...flagLines(flags.filter(({ rare }) => !rare)),
    ...(flags.some(({ rare }) => rare) ? ['', 'All settings: gossamer help settings'] : []),
    '',
    'Example:',
    `  ${command.example}`,
  ].join('\n');
};

const flagsOf = (whose: Whose): string =>
  SETTING_NAMES.filter((name) => SETTINGS[name].whose === whose)
    .map((name) => `--${SETTINGS[name].flag}`)
    .join(', ');

export const settingsHelp = (): string =>
  [
    ...wrap(
      'Flags of crawl and resume; without their dashes, names in a --config file. ' +
        '--no-<switch> turns a switch off; none lifts a limit, as in --max-pages none. ' +
        'A TIME is in seconds, or has a unit: 2, 500ms, 10m.',
      COLUMNS,
    ),
    ...wrap(
      `Each process of a crawl has its own ${flagsOf('member')}. ${flagsOf('fixed')} are chosen when it begins. ` +
        'All others are the crawl\'s: "gossamer set" changes them for all its processes, while they run.',
      COLUMNS,
    ),
    '',
    ...flagLines(SETTING_FLAGS),
  ].join('\n');

/** Flags without a group come last, as they are. */
const flagLines = (flags: readonly Flag[]): string[] => [
  ...GROUPS.flatMap((group) => {
    const inside = flags.filter((flag) => flag.group === group);
    return inside.length > 0 ? [`${group}:`, ...inside.flatMap(linesOf)] : [];
  }),
  ...flags.filter(({ group }) => group === undefined).flatMap(linesOf),
];

const linesOf = ({ name, value, says }: Flag): string[] => {
  const left = `  --${name}${value === undefined ? '' : ` ${value}`}`;
  const right = wrap(says, COLUMNS - MARGIN);
  // A long name leaves its description the next line.
  const [first, ...rest] =
    left.length < MARGIN ? [`${left.padEnd(MARGIN)}${right[0]}`, ...right.slice(1)] : [left, ...right];
  return [first!, ...rest.map((line) => `${' '.repeat(MARGIN)}${line}`)];
};

/** Broken between words; a long word, such as an address, is never broken. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};
