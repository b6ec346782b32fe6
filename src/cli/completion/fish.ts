/** The completion script for fish: one line per thing that can be typed. */

import type { Completed, Kind, Option } from './words.ts';

/**
 * fish's own test for a command looks for the word anywhere on the line, and a crawl often lies in a folder named
 * crawl. Words are counted as they are read: those after the command that are neither flags nor their values.
 */
const CONDITIONS = `function __gossamer_command -a name
  set -l words (commandline -opc)
  test "$words[2]" = $name
end
function __gossamer_operand -a name place
  __gossamer_command $name; or return
  set -l words (commandline -opc)
  set -l valued $argv
  set -e words[1..2] valued[1..2]
  set -l before ''
  set -l at 1
  for word in $words
    if not contains -- "$before" $valued; and not string match -q -- '-*' $word
      set at (math $at + 1)
    end
    set before $word
  end
  test $at -eq $place
end`;

export const fishScript = (commands: readonly Completed[]): string =>
  [
    '# gossamer for fish. Load it with:  gossamer completion fish | source',
    CONDITIONS,
    'complete -c gossamer -f',
    ...commands.map(({ name, says }) => `complete -c gossamer -n __fish_use_subcommand -a ${name} -d '${says}'`),
    ...commands.flatMap((command) => [
      ...command.options.map(
        (option) => `complete -c gossamer -n '__gossamer_command ${command.name}' ${optionOf(option)}`,
      ),
      ...operandsOf(command),
    ]),
    '',
  ].join('\n');

const optionOf = ({ name, value, says }: Option): string =>
  `-l ${name}${value === null ? '' : value.kind === 'file' ? ' -r -F' : value.kind === 'free' ? ' -x' : ` -x ${wordsOf(value.kind)}`} -d '${says}'`;

const operandsOf = ({ name, options, operands }: Completed): string[] => {
  const valued = options.filter(({ value }) => value !== null).map((option) => `--${option.name}`);
  return operands.flatMap(({ kind }, i) =>
    kind === 'free'
      ? []
      : [`complete -c gossamer -n '${['__gossamer_operand', name, i + 1, ...valued].join(' ')}' ${wordsOf(kind)}`],
  );
};

const wordsOf = (kind: Exclude<Kind, 'free'>): string => {
  if (kind === 'file') return '-F';
  return `-a '${kind === 'dir' ? '(__fish_complete_directories)' : kind.join(' ')}'`;
};
