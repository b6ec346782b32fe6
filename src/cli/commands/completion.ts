/** `gossamer completion`: a script that lets a shell complete what is typed. */

import { UsageError } from '../../model/read-settings.ts';
import type { Command } from '../command.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { completedOf, type Completed } from '../completion/words.ts';
import { zshScript } from '../completion/zsh.ts';

const SCRIPTS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
const SHELLS = Object.keys(SCRIPTS);

/** The commands are asked for when it runs: this one is among them. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  usage: `completion ${SHELLS.join('|')}`,
  says: 'Print a script that completes commands, flags and values in your shell. To have it always, put "source <(gossamer completion bash)" into ~/.bashrc, the same with zsh into ~/.zshrc, or "gossamer completion fish | source" into ~/.config/fish/config.fish.',
  flags: [],
  example: 'gossamer completion bash > gossamer.bash && source gossamer.bash',
  run: async ({ words }) => {
    const [shell = '', ...rest] = words;
    if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many`);
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script)
      throw new UsageError(
        `${shell === '' ? 'the shell is missing' : `there is no completion for "${shell}"`}: choose one of ${SHELLS.join(', ')}`,
      );
    process.stdout.write(script(completedOf(commands())));
    return 0;
  },
});
