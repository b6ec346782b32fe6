/** The binary: finds the command, and turns every end into an exit code. */

import { DiskError } from '../folder/ceilings.ts';
import { VERSION } from '../folder/version.ts';
import { nearest } from '../lib/nearest.ts';
import { visibleLines } from '../lib/visible.ts';
import { UsageError } from '../model/read-settings.ts';
import { isDiskFull } from '../store/disk-full.ts';
import { EVERYWHERE, type Command } from './command.ts';
import { readFlags } from './flags.ts';
import { helpOf, overviewOf, settingsHelp } from './help.ts';
import { auditCommand } from './commands/audit.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { crawlCommand } from './commands/crawl.ts';
import { explainCommand } from './commands/explain.ts';
import { exportCommand } from './commands/export.ts';
import { joinCommand } from './commands/join.ts';
import { membersCommand } from './commands/members.ts';
import { migrateCommand } from './commands/migrate.ts';
import { pagesCommand } from './commands/pages.ts';
import { resumeCommand } from './commands/resume.ts';
import { setCommand } from './commands/set.ts';
import { showCommand } from './commands/show.ts';
import { sitesCommand } from './commands/sites.ts';
import { statusCommand } from './commands/status.ts';
import { verifyCommand } from './commands/verify.ts';
import { worldCommand } from './commands/world.ts';

export const COMMANDS: readonly Command[] = [
  crawlCommand,
  resumeCommand,
  joinCommand,
  membersCommand,
  setCommand,
  statusCommand,
  pagesCommand,
  exportCommand,
  sitesCommand,
  showCommand,
  explainCommand,
  verifyCommand,
  auditCommand,
  migrateCommand,
  configCommand,
  completionCommand(() => COMMANDS),
  worldCommand,
];

export const main = async (args: readonly string[]): Promise<void> => {
  process.stdout.on('error', onUnread);
  // What is lost there is a warning; what the command does, and its exit code, stay what they are.
  process.stderr.on('error', () => {});
  try {
    process.exitCode = await dispatch(args);
  } catch (error) {
    process.exitCode = failed(error);
  }
};

let running: Command | null = null;

/** `| head` closes our output early: no fault, and nothing is left to do for a command that only prints. */
const onUnread = (error: NodeJS.ErrnoException): void => {
  if (!running?.goesOnUnread) process.exit(error.code === 'EPIPE' ? 0 : 1);
};

const dispatch = async (args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    console.log(
      rest[0] === undefined
        ? overviewOf(COMMANDS)
        : rest[0] === 'settings'
          ? settingsHelp()
          : helpOf(commandOf(rest[0])),
    );
    return 0;
  }
  if (name === '--version' || name === 'version') {
    console.log(`gossamer ${VERSION}`);
    return 0;
  }
  const command = commandOf(name);
  if (rest.includes('--help') || rest.includes('-h')) {
    console.log(helpOf(command));
    return 0;
  }
  if (rest.includes('--version')) {
    console.log(`gossamer ${VERSION}`);
    return 0;
  }
  running = command;
  return command.run(readFlags(rest, [...command.flags, ...EVERYWHERE], command.name));
};

const commandOf = (name: string): Command => {
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return command;
  const names = COMMANDS.map((one) => one.name);
  const best = nearest(name, names);
  throw new UsageError(
    `there is no command "${name}"${best === null ? '' : ` (did you mean ${best}?)`}: it is one of ${names.join(', ')}`,
  );
};

/** What the system says of files that are not as they should be: no defect of ours, and a stack helps nobody. */
const OF_SYSTEM = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'EIO', 'EMFILE', 'ENFILE'];

const isOfSystem = (error: unknown): boolean => OF_SYSTEM.includes((error as { code?: string }).code ?? '');

const failed = (error: unknown): number => {
  const { message, advice, stack } = error as { message: string; advice?: string; stack?: string };
  // A message may quote a server, a page or a crawl that somebody else made.
  const say = (text: string): void => console.error(visibleLines(`gossamer: ${text}`));
  if (error instanceof UsageError) {
    say(message);
    return 2;
  }
  if (error instanceof DiskError) {
    say(message);
    return 4;
  }
  if (isDiskFull(error)) {
    say(`the disk is full (${message}): free some space, then do it again`);
    return 4;
  }
  if (advice !== undefined) say(`${message}: ${advice}`);
  else if (isOfSystem(error))
    say(`${message}: see that it is what it should be, and that this user may read and write it`);
  else say(stack ?? message);
  return 1;
};
