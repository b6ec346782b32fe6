/** The help of every command fits a screen and has an example; nothing that can be typed is left out of it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/main.ts';
import { helpOf } from '../../src/cli/help.ts';
import { VERSION } from '../../src/folder/version.ts';
import { hasFlag, SETTINGS, SETTING_NAMES } from '../../src/model/setting-table.ts';
import { writeDefault } from '../../src/cli/setting-flags.ts';
import { runBinary } from '../support/binary.ts';
import { assertCode } from '../support/stage.ts';

const assertFits = (text: string, what: string, linesMax: number): void => {
  const lines = text.trimEnd().split('\n');
  assert.ok(lines.length <= linesMax, `${what} has ${lines.length} lines`);
  assert.deepEqual(
    lines.filter((line) => line.length > 100),
    [],
    what,
  );
};

test('the overview fits 24 lines and names every command', async () => {
  const ran = await runBinary(['help']);
  assertCode(ran, 0);
  assertFits(ran.stdout, 'the overview', 24);
  for (const { name } of COMMANDS) assert.match(ran.stdout, new RegExp(`^ {2}${name} `, 'm'));
});

test('the help of every command fits 40 lines of 100 columns and ends with an example of it', () => {
  for (const command of COMMANDS) {
    const help = helpOf(command);
    assertFits(help, command.name, 40);
    assert.match(help, new RegExp(`\n\nExample:\n {2}gossamer ${command.name} [^\n]+$`));
  }
});

test('a flag that a command does not show in its help is a setting, and the help says where those are', async () => {
  const settings = (await runBinary(['help', 'settings'])).stdout;
  for (const command of COMMANDS) {
    const help = helpOf(command);
    for (const { name } of command.flags) {
      const isShown = (text: string): boolean => new RegExp(`^ {2}--${name}( |$)`, 'm').test(text);
      if (isShown(help)) continue;
      assert.ok(isShown(settings), `${command.name} --${name}`);
      assert.match(help, /^All settings: gossamer help settings$/m);
    }
  }
});

test('help settings lists every setting with its default', async () => {
  const ran = await runBinary(['help', 'settings']);
  assertCode(ran, 0);
  assertFits(ran.stdout, 'help settings', 80);
  for (const name of SETTING_NAMES.filter(hasFlag)) {
    const from = ran.stdout.indexOf(`  --${SETTINGS[name].flag}`);
    assert.ok(from >= 0, name);
    const own = ran.stdout
      .slice(from + 4)
      .split(/\n(?: {2}--|\w)/)[0]!
      .replaceAll(/\s+/g, ' ');
    const fallback = writeDefault(name);
    if (fallback !== '') assert.ok(own.trimEnd().endsWith(`(default ${fallback})`), own);
  }
});

test('help of what is no command, and a slip in a flag that the help does not show, get a sentence', async () => {
  const ran = await runBinary(['help', 'nothing']);
  assertCode(ran, 2);
  assert.match(ran.stderr, /^gossamer: there is no command "nothing": it is one of crawl/);
  const slip = await runBinary(['crawl', 'seeds.txt', '--no-verify-tsl']);
  assertCode(slip, 2);
  assert.match(slip.stderr, /there is no flag --no-verify-tsl \(did you mean --no-verify-tls\?\)/);
});

test('help is there for the whole and for every command, with an example and the exit codes', async () => {
  const overview = await runBinary(['--help']);
  assertCode(overview, 0);
  assert.match(overview.stdout, /Exit codes: 0 /);
  for (const command of COMMANDS) {
    assert.ok(overview.stdout.includes(`  ${command.name} `), command.name);
    const help = await runBinary([command.name, '--help']);
    assertCode(help, 0);
    assert.match(help.stdout, new RegExp(`^Usage: gossamer ${command.name}`));
    assert.match(help.stdout, new RegExp(`Example:\n {2}gossamer ${command.name} `));
    assert.equal(help.stderr, '');
  }
});

test('without a command the overview is shown', async () => {
  const ran = await runBinary([]);
  assertCode(ran, 0);
  assert.match(ran.stdout, /Usage: gossamer <command>/);
});

test('--version prints the version of the package', async () => {
  const ran = await runBinary(['--version']);
  assertCode(ran, 0);
  assert.equal(ran.stdout, `gossamer ${VERSION}\n`);
});
