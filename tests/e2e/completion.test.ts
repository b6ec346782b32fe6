/** The completion scripts, each run by its shell: bash, and zsh and fish as Debian has them. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Command } from '../../src/cli/command.ts';
import { bashScript } from '../../src/cli/completion/bash.ts';
import { fishScript } from '../../src/cli/completion/fish.ts';
import { completedOf } from '../../src/cli/completion/words.ts';
import { zshScript } from '../../src/cli/completion/zsh.ts';
import { namesOf } from '../../src/cli/flags.ts';
import { COMMANDS } from '../../src/cli/main.ts';
import { runBinary, type Ran } from '../support/binary.ts';
import { openFish, openZsh, type Asked, type ShellHome } from '../support/shells.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-completion-'));
const elsewhere = mkdtempSync(join(tmpdir(), 'gossamer-shells-'));
after(() => [home, elsewhere].forEach((folder) => rmSync(folder, { recursive: true })));

const bash = (...args: readonly string[]): Promise<Ran> =>
  runBinary(args, { command: ['bash', '--norc', '--noprofile'], cwd: home });

const texts: Record<string, string> = {};
before(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const ran = await runBinary(['completion', shell]);
    assertCode(ran, 0);
    texts[shell] = ran.stdout;
    writeFileSync(join(home, `script.${shell}`), ran.stdout);
  }
  for (const name of ['crawl-one', 'crawl two']) mkdirSync(join(home, name));
  writeFileSync(join(home, 'crawl-seeds.txt'), '');
});

/** What bash offers for the last of these words. */
const offered = async (...words: readonly string[]): Promise<string[]> => {
  const script =
    'source ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gossamer gossamer; for one in "${COMPREPLY[@]}"; do echo "$one"; done';
  const ran = await bash('-c', script, 'bash', 'gossamer', ...words);
  assertCode(ran, 0);
  assert.equal(ran.stderr, '');
  return ran.stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
};

test('bash completes commands, and all of them when nothing is typed', async () => {
  assert.deepEqual(await offered(''), [...COMMANDS.map(({ name }) => name), 'help'].toSorted());
  assert.deepEqual(await offered('comp'), ['completion']);
});

test('bash completes the flags of each command, those that turn a switch off too', async () => {
  assert.deepEqual(await offered('crawl', '--seed'), ['--seeded-only']);
  assert.deepEqual(await offered('resume', './crawl', '--no-ver'), ['--no-verify-tls']);
  for (const command of COMMANDS) {
    assert.deepEqual(
      await offered(command.name, '--'),
      [...namesOf(command.flags), 'help'].map((name) => `--${name}`).toSorted(),
      command.name,
    );
  }
});

test('bash completes the values of a flag where they are known, also behind =', async () => {
  assert.deepEqual(await offered('crawl', '--keep', ''), ['all', 'none', 'text']);
  assert.deepEqual(await offered('crawl', 'seeds.txt', '--keep', 't'), ['text']);
  assert.deepEqual(await offered('crawl', '--keep', '='), ['all', 'none', 'text']);
  assert.deepEqual(await offered('crawl', '--keep', '=', 'n'), ['none']);
  assert.deepEqual(await offered('resume', './crawl', '--log-level', ''), ['debug', 'error', 'info', 'warn']);
  assert.deepEqual(await offered('pages', './crawl', '--format', ''), ['csv', 'jsonl', 'table']);
  assert.deepEqual(await offered('completion', ''), ['bash', 'fish', 'zsh']);
  assert.deepEqual(await offered('help', 'sett'), ['settings']);
});

test('bash completes files and directories where they belong, with spaces in their names, and nothing where nobody can guess', async () => {
  assert.deepEqual(await offered('crawl', 'crawl'), ['crawl two', 'crawl-one', 'crawl-seeds.txt']);
  assert.deepEqual(await offered('status', 'crawl'), ['crawl two', 'crawl-one']);
  assert.deepEqual(await offered('crawl', '--dir', 'crawl'), ['crawl two', 'crawl-one']);
  assert.deepEqual(await offered('crawl', '--exclude-file', 'crawl-s'), ['crawl-seeds.txt']);
  assert.deepEqual(await offered('config', '--config', 'crawl-s'), ['crawl-seeds.txt']);
  assert.deepEqual(await offered('crawl', '--email', ''), []);
  assert.deepEqual(await offered('show', 'crawl-one', ''), []);
});

test('bash counts what stands without a flag: values of flags are none, and when all is there flags are offered', async () => {
  assert.deepEqual(await offered('resume', '--max-pages', '5', 'crawl-o'), ['crawl-one']);
  assert.deepEqual(await offered('resume', '--max-pages', '=', '5', 'crawl-o'), ['crawl-one']);
  assert.deepEqual(await offered('resume', '--retry-parked', 'crawl-o'), ['crawl-one']);
  assert.deepEqual(await offered('status', 'crawl-one', ''), ['--help', '--json', '--watch']);
});

test('the script registers itself with bash', async () => {
  const ran = await bash('-c', 'source ./script.bash; complete -p gossamer');
  assertCode(ran, 0);
  assert.equal(ran.stdout, 'complete -F _gossamer gossamer\n');
});

/** What both of the other shells answer; `DIRS` are the folders, which fish writes with a slash. */
const DIRS = ['crawl two', 'crawl-one'];
const ANSWERS: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['gossamer ', [...COMMANDS.map(({ name }) => name), 'help']],
  ['gossamer comp', ['completion']],
  ...COMMANDS.map(
    ({ name, flags }) => [`gossamer ${name} --`, [...namesOf(flags), 'help'].map((flag) => `--${flag}`)] as const,
  ),
  ['gossamer resume ./crawl --no-ver', ['--no-verify-tls']],
  ['gossamer crawl --keep ', ['all', 'none', 'text']],
  ['gossamer crawl seeds.txt --keep t', ['text']],
  ['gossamer pages ./crawl --format ', ['csv', 'jsonl', 'table']],
  ['gossamer completion ', ['bash', 'fish', 'zsh']],
  ['gossamer help sett', ['settings']],
  ['gossamer crawl crawl', [...DIRS, 'crawl-seeds.txt']],
  ['gossamer status crawl', DIRS],
  ['gossamer crawl --dir crawl', DIRS],
  ['gossamer crawl --exclude-file crawl-s', ['crawl-seeds.txt']],
  ['gossamer crawl --email ', []],
  ['gossamer show crawl-one ', []],
  ['gossamer help crawl ', []],
  ['gossamer resume --max-pages 5 crawl-o', ['crawl-one']],
  ['gossamer resume --max-pages=5 crawl-o', ['crawl-one']],
  ['gossamer resume --retry-parked crawl-o', ['crawl-one']],
  // A folder may have the name of a command.
  ['gossamer status crawl --', ['--help', '--json', '--watch']],
];

const assertAnswers = async (ask: Asked): Promise<void> => {
  const answers = await ask(ANSWERS.map(([line]) => line));
  assert.equal(answers.length, ANSWERS.length);
  for (const [i, [line, offered]] of ANSWERS.entries()) {
    assert.deepEqual(answers[i]!.map((one) => one.replace(/\/$/, '')).toSorted(), offered.toSorted(), line);
  }
};

/** A place for start-up files, outside of where files are completed. */
const shellHome = (loading: string): ShellHome => ({ cwd: home, home: mkdtempSync(join(elsewhere, 'home-')), loading });

test('zsh completes commands, flags, values, files and directories, loaded as the help says and nothing else in ~/.zshrc', () =>
  assertAnswers(openZsh(shellHome('source <(gossamer completion zsh)'))));

test('zsh completes with the script as a file in its function path, too', async () => {
  const stage = shellHome(`fpath=('${elsewhere}' $fpath); autoload -Uz compinit; compinit -u`);
  writeFileSync(join(elsewhere, '_gossamer'), texts.zsh!);
  assert.deepEqual(await openZsh(stage)(['gossamer comp', 'gossamer crawl --keep=', 'gossamer crawl --seed']), [
    ['completion'],
    ['all', 'none', 'text'],
    ['--seeded-only'],
  ]);
});

test('fish completes commands, flags, values, files and directories', () =>
  assertAnswers(openFish(shellHome('gossamer completion fish | source'))));

test('fish completes values behind =', async () => {
  const ask = openFish(shellHome('gossamer completion fish | source'));
  assert.deepEqual(await ask(['gossamer crawl --keep=n', 'gossamer crawl --dir=crawl-']), [
    ['--keep=none'],
    ['--dir=crawl-one/'],
  ]);
});

test('a description with a quote or a backslash in it ends no text of a script', () => {
  const odd: Command = {
    name: 'odd',
    usage: 'odd',
    says: "It's odd.",
    flags: [{ name: 'one', says: "a site's \\' value" }],
    example: 'gossamer odd',
    run: async () => 0,
  };
  for (const script of [bashScript, zshScript, fishScript]) {
    for (const line of script(completedOf([odd])).split('\n')) assert.doesNotMatch(line, /\w's|\\'/);
  }
});

test('a shell that is not known, none and two get a sentence', async () => {
  for (const [words, says] of [
    [['tcsh'], /there is no completion for "tcsh": choose one of bash, zsh, fish/],
    [[], /the shell is missing: choose one of/],
    [['bash', 'zsh'], /"zsh" is one word too many/],
  ] as const) {
    const ran = await runBinary(['completion', ...words]);
    assertCode(ran, 2);
    assert.match(ran.stderr, says);
  }
});
