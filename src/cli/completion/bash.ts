/** The completion script for bash; it also runs on the bash 3.2 that some systems still bring. */

import type { Completed, Kind, Option } from './words.ts';

export const bashScript = (
  commands: readonly Completed[],
): string => `# gossamer for bash. Load it with:  source <(gossamer completion bash)
_gossamer() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" one
  local flags='' valued='' kind='' operand=0 i
  local operands=()
  COMPREPLY=()
  # bash takes --flag=value for three words.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    kind='${commands.map(({ name }) => name).join(' ')}'
  else
    case "\${COMP_WORDS[1]}" in
${commands.map(caseOf).join('\n')}
    esac
    # Words before this one that are neither flags nor their values.
    for ((i = 2; i < COMP_CWORD; i++)); do
      one="\${COMP_WORDS[i]}"
      if [[ " $valued " == *" $one "* ]]; then
        [[ \${COMP_WORDS[i+1]} == '=' ]] && ((i++))
        ((i++))
      elif [[ $one != -* ]]; then
        ((operand++))
      fi
    done
    if [[ -z $kind && $word == -* ]] || [[ -z $kind && $operand -ge \${#operands[@]} ]]; then
      kind="$flags"
    elif [[ -z $kind ]]; then
      kind="\${operands[operand]}"
    fi
  fi
  case "$kind" in
    free) ;;
    file|dir)
      compopt -o filenames 2>/dev/null
      [[ $kind == file ]] && kind=-f || kind=-d
      while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen $kind -- "$word")
      ;;
    *)
      while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen -W "$kind" -- "$word")
      ;;
  esac
}
complete -F _gossamer gossamer
`;

const caseOf = ({ name, options, operands }: Completed): string => {
  const valued = options.filter(({ value }) => value !== null);
  return [
    `      ${name})`,
    `        flags='${options.map((one) => `--${one.name}`).join(' ')}'`,
    `        valued='${valued.map((one) => `--${one.name}`).join(' ')}'`,
    `        operands=(${operands.map(({ kind }) => `'${textOf(kind)}'`).join(' ')})`,
    ...(valued.length > 0 ? ['        case "$before" in', ...byKind(valued), '        esac'] : []),
    '        ;;',
  ].join('\n');
};

/** One line for all flags whose values are of one kind. */
const byKind = (valued: readonly Option[]): string[] =>
  Object.entries(Object.groupBy(valued, ({ value }) => textOf(value!.kind))).map(
    ([kind, options]) => `          ${options!.map(({ name }) => `--${name}`).join('|')}) kind='${kind}' ;;`,
  );

const textOf = (kind: Kind): string => (typeof kind === 'string' ? kind : kind.join(' '));
