/** What can be typed after each command, as a table that the scripts of all shells are written from. */

import { EVERYWHERE, type Command } from '../command.ts';
import { choicesOf, namesOf, type Flag } from '../flags.ts';
import { briefOf } from '../help.ts';

/** What stands at a place: a file, a directory, one of some words, or what nobody can guess. */
export type Kind = 'file' | 'dir' | 'free' | readonly string[];

export interface Option {
  /** Without dashes. */
  readonly name: string;
  /** Null for a switch. */
  readonly value: { readonly called: string; readonly kind: Kind } | null;
  readonly repeatable: boolean;
  readonly says: string;
}

export interface Completed {
  readonly name: string;
  readonly says: string;
  readonly options: readonly Option[];
  /** What stands without a flag, in order. */
  readonly operands: readonly { readonly called: string; readonly kind: Kind }[];
}

export const completedOf = (commands: readonly Command[]): Completed[] => [
  ...commands.map((command) => ({
    name: command.name,
    says: quotable(briefOf(command)),
    options: [...command.flags, ...EVERYWHERE].flatMap(optionsOf),
    operands: operandsOf(command),
  })),
  {
    name: 'help',
    says: 'Explain a command, or list all settings',
    options: [],
    operands: [{ called: 'topic', kind: [...commands.map(({ name }) => name), 'settings'] }],
  },
];

const optionsOf = (flag: Flag): Option[] =>
  namesOf([flag]).map((name) => ({
    name,
    value:
      // A value that may be left out is nothing that a shell can guess.
      flag.value === undefined || flag.isValue
        ? null
        : { called: quotable(flag.value), kind: kindOf(flag.value, choicesOf(flag)) },
    repeatable: flag.repeatable ?? false,
    says: quotable(name === flag.name ? flag.says : `not --${flag.name}`),
  }));

/** `show <dir> <url> [--text]`: the words of the usage that are no flags. */
const operandsOf = ({ usage }: Command): Completed['operands'] =>
  usage
    .split(' ')
    .slice(1)
    .map((word) => word.replace(/^\[(<.*>)\]$/, '$1').replace(/\.{3}$/, ''))
    .filter((word) => /^<.*>$|^[a-z]+(\|[a-z]+)+$/.test(word))
    .map((word) => ({ called: word.replaceAll(/[<>]/g, ''), kind: kindOf(word, choicesOf({ value: word })) }));

const kindOf = (called: string, choices: readonly string[]): Kind => {
  if (choices.length > 0) return choices;
  if (/dir\b/i.test(called)) return 'dir';
  return /file\b|module\b/i.test(called) ? 'file' : 'free';
};

/** All scripts put texts in single quotes, and shells differ in how one stands inside them: none does. */
const quotable = (text: string): string => text.replaceAll("'", '’').replaceAll(/[\\\n]/g, ' ');
