/** From words on the command line to values, or a sentence that says which word is wrong. */

import { UsageError } from '../model/read-settings.ts';

export interface Flag {
  readonly name: string;
  /** What stands for its value in the help; a flag without one is a switch. */
  readonly value?: string;
  readonly repeatable?: boolean;
  readonly says: string;
}

export interface Read {
  readonly words: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
}

export const readFlags = (args: readonly string[], flags: readonly Flag[]): Read => {
  const known = new Map(flags.map((flag) => [flag.name, flag]));
  const words: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
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
    const flag = known.get(name);
    if (!flag) throw new UsageError(`there is no flag ${arg.split('=')[0]}${nearest(name, [...known.keys()])}; --help lists all`);
    if (flag.value === undefined) {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      switches.add(name);
      continue;
    }
    const value = inline ?? args[++i];
    if (value === undefined || (inline === undefined && value.startsWith('--'))) throw new UsageError(`--${name} needs a value: --${name} ${flag.value}`);
    const given = values.get(name);
    if (given && !flag.repeatable) throw new UsageError(`--${name} is given twice`);
    values.set(name, [...(given ?? []), value]);
  }
  return { words, switches, values };
};

const split = (arg: string): [string, string | undefined] => {
  if (arg === '-h') return ['help', undefined];
  const body = arg.replace(/^--?/, '');
  const at = body.indexOf('=');
  return at < 0 ? [body, undefined] : [body.slice(0, at), body.slice(at + 1)];
};

/** "did you mean" for a slip of one or two letters. */
export const nearest = (word: string, known: readonly string[]): string => {
  const [best] = known.map((name) => ({ name, slips: distance(word, name) })).sort((a, b) => a.slips - b.slips);
  return best && best.slips <= 2 ? ` (did you mean --${best.name}?)` : '';
};

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
};
