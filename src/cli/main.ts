/** The binary: finds the command, and turns every end into an exit code. */

import { DiskError } from '../crawl/open.ts';
import { VERSION } from '../crawl/version.ts';
import { UsageError } from '../model/read-settings.ts';
import { isDiskFull } from '../store/sqlite/fault.ts';
import { EVERYWHERE, EXIT_CODES, helpOf, type Command } from './command.ts';
import { readFlags } from './flags.ts';
import { crawlCommand } from './commands/crawl.ts';
import { pagesCommand } from './commands/pages.ts';
import { resumeCommand } from './commands/resume.ts';
import { showCommand } from './commands/show.ts';
import { statusCommand } from './commands/status.ts';
import { verifyCommand } from './commands/verify.ts';
import { worldCommand } from './commands/world.ts';

export const COMMANDS: readonly Command[] = [crawlCommand, resumeCommand, statusCommand, pagesCommand, showCommand, verifyCommand, worldCommand];

const overview = (): string => [
  `gossamer ${VERSION}: a polite web crawler that loses nothing`,
  '',
  'Usage: gossamer <command> [flags]',
  '',
  ...COMMANDS.map((command) => `  ${command.name.padEnd(9)}${command.says}`),
  '',
  'Start here:  gossamer crawl seeds.txt --email you@example.org',
  'More:        gossamer <command> --help',
  '',
  'Exit codes:',
  ...Object.entries(EXIT_CODES).map(([code, says]) => `  ${code.padEnd(4)} ${says}`),
].join('\n');

export const main = async (args: readonly string[]): Promise<void> => {
  // `| head` closes our output early: that is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    process.exitCode = await dispatch(args);
  } catch (error) {
    process.exitCode = failed(error);
  }
};

const dispatch = async (args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    console.log(rest[0] === undefined ? overview() : helpOf(commandOf(rest[0])));
    return name === undefined ? 2 : 0;
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
  return command.run(readFlags(rest, [...command.flags, ...EVERYWHERE]));
};

const commandOf = (name: string): Command => {
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return command;
  throw new UsageError(`there is no command "${name}": it is one of ${COMMANDS.map((one) => one.name).join(', ')}`);
};

const failed = (error: unknown): number => {
  const { message, advice, stack } = error as { message: string; advice?: string; stack?: string };
  if (error instanceof UsageError) {
    console.error(`gossamer: ${message}`);
    return 2;
  }
  if (error instanceof DiskError) {
    console.error(`gossamer: ${message}`);
    return 4;
  }
  if (isDiskFull(error)) {
    console.error(`gossamer: the disk is full (${message}): free some space, then do it again`);
    return 4;
  }
  console.error(advice === undefined ? `gossamer: ${stack ?? message}` : `gossamer: ${message}: ${advice}`);
  return 1;
};
