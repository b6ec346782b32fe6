/** The completion script for zsh. */

import type { Completed, Kind, Option } from './words.ts';

export const zshScript = (commands: readonly Completed[]): string => `#compdef gossamer
# gossamer for zsh. Load it with:  source <(gossamer completion zsh)
_gossamer() {
  local -a commands
  commands=(
${commands.map(({ name, says }) => `    '${name}:${says.replaceAll(':', '\\:')}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${commands.map(caseOf).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_gossamer" ]; then
  _gossamer "$@"
else
  # Where nobody has set up completion yet, compdef is not there.
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _gossamer gossamer
fi
`;

const caseOf = ({ name, options, operands }: Completed): string => {
  const specs = [
    ...options.map(specOf),
    ...operands.map(({ called, kind }, i) => `'${i + 1}:${escaped(called)}:${actionOf(kind)}'`),
  ];
  return `    ${name})\n      _arguments \\\n        ${specs.join(' \\\n        ')}\n      ;;`;
};

const specOf = ({ name, value, repeatable, says }: Option): string => {
  const head = `${repeatable ? '*' : ''}--${name}${value === null ? '' : '='}[${escaped(says)}]`;
  return `'${head}${value === null ? '' : `:${escaped(value.called)}:${actionOf(value.kind)}`}'`;
};

const actionOf = (kind: Kind): string => {
  if (typeof kind !== 'string') return `(${kind.join(' ')})`;
  return { file: '_files', dir: '_files -/', free: ' ' }[kind];
};

/** These three have a meaning in a specification. */
const escaped = (text: string): string => text.replaceAll(/[[\]:]/g, '\\$&');
