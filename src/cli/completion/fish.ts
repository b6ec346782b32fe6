/** The completion script for fish: one line per thing that can be typed. */

import type { Completed, Kind, Option } from './words.ts';

export const fishScript = (commands: readonly Completed[]): string => [
  '# gossamer for fish. Load it with:  gossamer completion fish | source',
  'complete -c gossamer -f',
  ...commands.map(({ name, says }) => `complete -c gossamer -n __fish_use_subcommand -a ${name} -d '${says}'`),
  ...commands.flatMap(({ name, options, operands }) => {
    const start = `complete -c gossamer -n '__fish_seen_subcommand_from ${name}'`;
    return [...options.map((option) => `${start} ${optionOf(option)}`), ...operands.flatMap(({ kind }) => (kind === 'free' ? [] : [`${start} ${wordsOf(kind)}`]))];
  }),
  '',
].join('\n');

const optionOf = ({ name, value, says }: Option): string =>
  `-l ${name}${value === null ? '' : value.kind === 'file' ? ' -r -F' : value.kind === 'free' ? ' -x' : ` -x ${wordsOf(value.kind)}`} -d '${says}'`;

const wordsOf = (kind: Exclude<Kind, 'free'>): string => {
  if (kind === 'file') return '-F';
  return `-a '${kind === 'dir' ? '(__fish_complete_directories)' : kind.join(' ')}'`;
};
