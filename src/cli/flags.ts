/** From words on the command line to values, or a sentence that says which word is wrong. */

import { nearest } from '../lib/nearest.ts';
import { UsageError } from '../model/read-settings.ts';

export interface Flag {
  readonly name: string;
  /** What stands for its value in the help; a flag without one is a switch. */
  readonly value?: string;
  /** For a flag that is a switch where its value is left out: whether the word after it is its value. */
  readonly isValue?: (word: string) => boolean;
  readonly repeatable?: boolean;
  /** A switch that `--no-<name>` turns off, where a file or a resumed crawl has it on. */
  readonly negatable?: boolean;
  /** The heading under which the help shows it. */
  readonly group?: string;
  /** Left out of the command's help, which has to fit a screen; `gossamer help settings` has it. */
  readonly rare?: boolean;
  readonly says: string;
}

export interface Read {
  /** As they were typed, behind the name of the command. */
  readonly args: readonly string[];
  readonly words: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Switches turned off by `--no-<name>`. */
  readonly off: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Every name that may stand after two dashes. */
export const namesOf = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ name, negatable }) => (negatable ? [name, `no-${name}`] : [name]));

/** The values to choose from, where they are all known: `all|text|none`. */
export const choicesOf = ({ value }: Pick<Flag, 'value'>): readonly string[] =>
  value?.includes('|') ? value.split('|') : [];

/** The command is the one whose flags these are: a sentence about a wrong one names where they are listed. */
export const readFlags = (args: readonly string[], flags: readonly Flag[], command: string): Read => {
  const known = new Map(flags.map((flag) => [flag.name, flag]));
  const words: string[] = [];
  const switches = new Set<string>();
  const off = new Set<string>();
  const values = new Map<string, string[]>();
  /** The last one wins, as in other programs: a person adds a flag to the end of a command that they call up again. */
  const forget = (name: string): void => {
    switches.delete(name);
    off.delete(name);
    values.delete(name);
  };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === '--') {
      words.push(...args.slice(i + 1));
      break;
    }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg);
      continue;
    }
    const [name, inline] = split(arg);
    const negated = name.startsWith('no-') && known.get(name.slice(3))?.negatable ? name.slice(3) : null;
    const flag = known.get(negated ?? name);
    if (!flag)
      throw new UsageError(`there is no flag ${arg.split('=')[0]}${hint(name, flags)}; ${listedBy(command, flags)}`);
    const alone = inline === undefined && flag.isValue?.(args[i + 1] ?? '') === false;
    if (flag.value === undefined || negated !== null || alone) {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      forget(flag.name);
      (negated === null ? switches : off).add(flag.name);
      continue;
    }
    const value = inline ?? args[++i];
    if (value === undefined || (inline === undefined && value.startsWith('--')))
      throw new UsageError(`--${name} needs a value: --${name} ${flag.value}`);
    const given = flag.repeatable ? (values.get(name) ?? []) : [];
    forget(name);
    values.set(name, [...given, value]);
  }
  return { args, words, switches, off, values };
};

const split = (arg: string): [string, string | undefined] => {
  if (arg === '-h') return ['help', undefined];
  const body = arg.replace(/^--?/, '');
  const at = body.indexOf('=');
  return at < 0 ? [body, undefined] : [body.slice(0, at), body.slice(at + 1)];
};

const hint = (name: string, flags: readonly Flag[]): string => {
  const best = nearest(name, namesOf(flags));
  return best === null ? '' : ` (did you mean --${best}?)`;
};

const listedBy = (command: string, flags: readonly Flag[]): string =>
  flags.some(({ rare }) => rare)
    ? `"gossamer ${command} --help" and "gossamer help settings" list all`
    : `"gossamer ${command} --help" lists all`;
