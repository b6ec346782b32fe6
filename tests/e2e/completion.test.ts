/** The completion scripts: bash runs the real one, the other shells' are checked as far as bash can read them. */

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
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-completion-'));
after(() => rmSync(home, { recursive: true }));

const bash = (...args: readonly string[]): Promise<Ran> => runBinary(args, { command: ['bash', '--norc', '--noprofile'], cwd: home });

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
  const script = 'source ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gossamer gossamer; for one in "${COMPREPLY[@]}"; do echo "$one"; done';
  const ran = await bash('-c', script, 'bash', 'gossamer', ...words);
  assertCode(ran, 0);
  assert.equal(ran.stderr, '');
  return ran.stdout.split('\n').filter((line) => line !== '').toSorted();
};

test('bash completes commands, and all of them when nothing is typed', async () => {
  assert.deepEqual(await offered(''), [...COMMANDS.map(({ name }) => name), 'help'].toSorted());
  assert.deepEqual(await offered('comp'), ['completion']);
});

test('bash completes the flags of each command, those that turn a switch off too', async () => {
  assert.deepEqual(await offered('crawl', '--seed'), ['--seeded-only']);
  assert.deepEqual(await offered('resume', './crawl', '--no-ver'), ['--no-verify-tls']);
  for (const command of COMMANDS) {
    assert.deepEqual(await offered(command.name, '--'), [...namesOf(command.flags), 'help'].map((name) => `--${name}`).toSorted(), command.name);
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
  assert.deepEqual(await offered('status', 'crawl-one', ''), ['--help', '--json']);
});

test('the script registers itself with bash', async () => {
  const ran = await bash('-c', 'source ./script.bash; complete -p gossamer');
  assertCode(ran, 0);
  assert.equal(ran.stdout, 'complete -F _gossamer gossamer\n');
});

test('the scripts for zsh and fish have balanced quotes, and know every command, flag and choice', async () => {
  for (const shell of ['zsh', 'fish']) {
    const ran = await bash('-n', `script.${shell}`);
    assertCode(ran, 0);
    assert.equal(ran.stderr, '');
    // One single quote more or less would make the rest a text: no line may leave one open.
    assert.deepEqual(texts[shell]!.split('\n').filter((line) => line.split("'").length % 2 === 0), []);
  }
  for (const command of COMMANDS) {
    assert.ok(texts['zsh']!.includes(`\n    ${command.name})\n`), command.name);
    assert.ok(texts['fish']!.includes(`-n __fish_use_subcommand -a ${command.name} `), command.name);
    for (const name of namesOf(command.flags)) {
      assert.match(texts['zsh']!.split(`\n    ${command.name})\n`)[1]!.split('\n      ;;')[0]!, new RegExp(`'\\*?--${name}=?\\[`), name);
      assert.match(texts['fish']!, new RegExp(`seen_subcommand_from ${command.name}' -l ${name} `), name);
    }
  }
  assert.match(texts['zsh']!, /'--keep=\[[^\]]*\]:all\|text\|none:\(all text none\)'/);
  assert.match(texts['fish']!, / -l keep -x -a 'all text none' /);
});

test('a description with a quote or a backslash in it ends no text of a script', () => {
  const odd: Command = { name: 'odd', usage: 'odd', says: "It's odd.", flags: [{ name: 'one', says: "a site's \\' value" }], example: 'gossamer odd', run: async () => 0 };
  for (const script of [bashScript, zshScript, fishScript]) {
    for (const line of script(completedOf([odd])).split('\n')) assert.doesNotMatch(line, /\w's|\\'/);
  }
});

test('a shell that is not known, none and two get a sentence', async () => {
  for (const [words, says] of [[['tcsh'], /there is no completion for "tcsh": choose one of bash, zsh, fish/], [[], /the shell is missing: choose one of/], [['bash', 'zsh'], /"zsh" is one word too many/]] as const) {
    const ran = await runBinary(['completion', ...words]);
    assertCode(ran, 2);
    assert.match(ran.stderr, says);
  }
});
