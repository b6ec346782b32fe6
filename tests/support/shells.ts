/**
 * zsh and fish as a person has them: they read their start-up file, which loads the completion script, and are asked
 * what Tab offers.
 */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOSSAMER, runBinary } from './binary.ts';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { assertCode } from './stage.ts';

/** What is offered at the end of each line. */
export type Asked = (lines: readonly string[]) => Promise<string[][]>;

export interface ShellHome {
  /** Files and folders that can be completed lie here. */
  readonly cwd: string;
  /** Start-up files and the like: nothing that is completed. */
  readonly home: string;
  /** Ends up in the start-up file. */
  readonly loading: string;
}

const NEXT = '--- next';

const answersOf = (text: string): string[][] =>
  text
    .split(`${NEXT}\n`)
    .slice(0, -1)
    .map((part) => [...new Set(part.split('\n').filter((line) => line !== ''))].toSorted());

/** A folder for the path, in which the binary has its name. */
export const binOf = (home: string): string => {
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'gossamer'), `#!/bin/sh\nexec '${process.execPath}' '${GOSSAMER}' "$@"\n`);
  chmodSync(join(bin, 'gossamer'), 0o755);
  return bin;
};

export const openFish = ({ cwd, home, loading }: ShellHome): Asked => {
  const root = unpackDebian(['fish', 'fish-common']);
  const bin = binOf(home);
  mkdirSync(join(home, 'fish'), { recursive: true });
  // Unpacked elsewhere than where it was built for, fish does not find its own functions.
  writeFileSync(
    join(home, 'fish', 'config.fish'),
    `set fish_function_path '${join(root, 'usr/share/fish/functions')}'\nfish_add_path -P '${bin}'\n${loading}\n`,
  );
  return async (lines) => {
    const program = `for line in $argv; complete -C"$line"; echo '${NEXT}'; end`;
    const ran = await runBinary(['-c', program, '--', ...lines], {
      command: [join(root, 'usr/bin/fish')],
      cwd,
      env: { ...withLibraries(root), HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
    });
    assertCode(ran, 0);
    if (ran.stderr !== '') throw new Error(`fish complains: ${ran.stderr}`);
    // Behind a tab stands the description.
    return answersOf(ran.stdout.replaceAll(/\t.*$/gm, ''));
  };
};

/**
 * The inner shell has a terminal of its own, as completion asks for; what it offers goes into a file, whatever it
 * draws.
 */
const ZSH_DRIVER = `
zmodload zsh/zpty
zpty inner "$ZSH_PROGRAM" -i
zpty -r inner said '*ready>*'
print -r -- "$said" > $SAID
for line in "$@"; do
  zpty -w -n inner "$line"$'\\t'
  zpty -w -n inner $'\\x15print -- "${NEXT}" >> $OFFERED; print next$((1 + 1))\\n'
  zpty -r inner said '*next2*ready>*'
done
zpty -d inner
print -r -- "$(<$SAID)" >&2
print -r -- "$(<$OFFERED)"
`;

const ZSH_END = `
LISTMAX=1000
PROMPT='ready>'
compadd() {
  local -a found
  if [[ " \${argv[1,(i)(-|--)]} " != *' -'[OAD]' '* ]]; then
    builtin compadd -O found "$@"
    print -rl -- \${(Q)found} >> $OFFERED
  fi
  builtin compadd "$@"
}
`;

export const openZsh = ({ cwd, home, loading }: ShellHome): Asked => {
  const root = unpackDebian(['zsh', 'zsh-common']);
  const bin = binOf(home);
  const start = [
    `module_path=('${root}'/usr/lib/*/zsh/*(/))`,
    `fpath=($fpath '${root}'/usr/share/zsh/functions/**/*(/N))`,
    `path=('${bin}' $path)`,
  ].join('\n');
  mkdirSync(join(home, 'zsh'), { recursive: true });
  writeFileSync(join(home, 'zsh', '.zshenv'), start);
  writeFileSync(join(home, 'zsh', '.zshrc'), `${loading}\n${ZSH_END}`);
  writeFileSync(join(home, 'drive.zsh'), ZSH_DRIVER);
  return async (lines) => {
    const program = join(root, 'bin/zsh');
    const offered = join(home, 'offered');
    writeFileSync(offered, '');
    const ran = await runBinary([join(home, 'drive.zsh'), ...lines], {
      command: [program],
      cwd,
      env: {
        ...withLibraries(root),
        HOME: home,
        ZDOTDIR: join(home, 'zsh'),
        TERM: 'xterm',
        OFFERED: offered,
        SAID: join(home, 'said'),
        ZSH_PROGRAM: program,
      },
    });
    assertCode(ran, 0);
    if (/not found|error/.test(ran.stderr)) throw new Error(`zsh complains: ${ran.stderr}`);
    return answersOf(`${ran.stdout}\n`);
  };
};
