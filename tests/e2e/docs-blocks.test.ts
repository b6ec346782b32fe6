/** Every command in the documentation can be pasted line by line: here into bash, with a small web for the world. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { EVERYWHERE } from '../../src/cli/command.ts';
import { readFlags } from '../../src/cli/flags.ts';
import { COMMANDS } from '../../src/cli/main.ts';
import { serveWorld, type ServedWorld } from '../../src/world/serve.ts';
import type { Request } from '../../src/world/sheet.ts';
import { createWorld } from '../../src/world/world.ts';
import { GOSSAMER } from '../support/binary.ts';
import { docPages, filesIn, isForShell, typedIn, type DocPage } from '../support/doc-blocks.ts';
import { plainPlan } from '../support/stage.ts';

/** The sites that the documentation speaks of. */
const KNOWN_HOSTS = ['example.org', 'www.example.org', 'example.com'];
/** Programs that a page may use and a machine may lack. */
const PROGRAMS = ['jq', 'sqlite3', 'zcat'];

const home = mkdtempSync(join(tmpdir(), 'gossamer-docs-'));
const bin = join(home, 'bin');
const settings = join(home, '.config', 'gossamer');
const ran = join(home, 'ran.txt');
const failed = join(home, 'failed.txt');
const pages = docPages();
let served: ServedWorld;

const script = (name: string, lines: readonly string[]): void => {
  writeFileSync(join(bin, name), `${['#!/bin/bash', ...lines].join('\n')}\n`);
  chmodSync(join(bin, name), 0o755);
};

before(async () => {
  const world = createWorld(plainPlan(8, 60, 12));
  const { scheme, hosts } = world.sites[0]!;
  // The small web has names of its own: its first site answers to those of the documentation, too.
  const known = (request: Request): Request =>
    KNOWN_HOSTS.includes(request.host) ? { ...request, scheme, host: hosts[0]! } : request;
  served = await serveWorld({ ...world, look: (request) => world.look(known(request)) });
  for (const folder of [bin, settings]) mkdirSync(folder, { recursive: true });
  script('gossamer', [
    `"${process.execPath}" "${GOSSAMER}" "$@"; code=$?`,
    'echo "$code gossamer $*" >> "$RAN"; exit $code',
  ]);
  script('npx', ['[ "$1" = gossamer ] && exec "$@"; exit 127']);
  writeFileSync(
    join(settings, 'config.yaml'),
    [
      `connect-to: ${JSON.stringify(served.connectTo)}`,
      ...['delay: 50ms', 'trouble-delay: 50ms', 'park-after: 1', 'timeout: 60', 'disk-reserve: 10MiB'],
      ...['max-pages: 30', 'keep-links: true'],
    ].join('\n'),
  );
  // For the pages about a crawl that is there already.
  await paste(home, ['gossamer crawl example.org example.com --email you@example.org --dir template --quiet']);
});

after(async () => {
  await served.close();
  rmSync(home, { recursive: true, force: true });
});

/** Lines pasted into one shell. Gives what was said; what failed is in its file. */
const paste = async (cwd: string, lines: readonly string[]): Promise<string> => {
  const child = spawn('bash', ['-c', ['trap \'echo "$? $BASH_COMMAND" >> "$FAILED"\' ERR', ...lines].join('\n')], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      PATH: [bin, process.env.PATH].join(delimiter),
      RAN: ran,
      FAILED: failed,
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  return said;
};

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').filter(Boolean) : [];

/** `explain` of a URL that the crawl does not know ends with 1, as it should. */
const isAsItShould = (line: string): boolean => line.startsWith('1 gossamer explain ');

const hasProgram = (name: string): boolean => spawnSync('which', [name]).status === 0;

const runnable = ({ blocks }: DocPage) => blocks.filter((block) => isForShell(block) && block.norun === null);

for (const page of pages.filter((one) => runnable(one).length > 0)) {
  test(`the commands of ${page.path} can be pasted`, async (t) => {
    const lines = runnable(page).flatMap(typedIn);
    const missing = PROGRAMS.filter(
      (name) => lines.some((line) => new RegExp(`\\b${name}\\b`).test(line)) && !hasProgram(name),
    );
    if (missing.length > 0) return t.skip(`there is no ${missing.join(' and no ')} here`);
    const cwd = mkdtempSync(join(home, 'page-'));
    writeFileSync(join(cwd, 'seeds.txt'), 'example.org\nexample.com\n');
    for (const { name, text } of filesIn(page)) writeFileSync(join(cwd, name), text);
    writeFileSync(join(cwd, 'exclude.txt'), 'never.example\n');
    if (!lines.some((line) => line.startsWith('gossamer crawl')))
      cpSync(join(home, 'template'), join(cwd, 'crawl'), { recursive: true });
    for (const path of [ran, failed]) rmSync(path, { force: true });
    const said = await paste(cwd, lines);
    assert.deepEqual(
      linesOf(ran).filter((line) => !line.startsWith('0 ') && !isAsItShould(line)),
      [],
      said,
    );
    assert.deepEqual(
      linesOf(failed).filter((line) => !isAsItShould(line)),
      [],
      said,
    );
    assert.equal(linesOf(ran).length, lines.filter((line) => /^(npx )?gossamer /.test(line)).length, said);
  });
}

test('the commands in blocks that cannot be run here are known, with their flags', (t) => {
  const blocks = pages.flatMap(({ path, blocks }) => blocks.filter(isForShell).map((block) => ({ path, ...block })));
  const marked = blocks.filter(({ norun }) => norun !== null);
  t.diagnostic(`${blocks.length - marked.length} blocks are run, ${marked.length} are marked`);
  for (const block of marked) {
    for (const line of typedIn(block).filter((one) => /^(?:npx )?gossamer /.test(one))) {
      const [, name, ...rest] = line
        .replace(/^npx /, '')
        .split(/\s(?:#|\||&&|>)/)[0]!
        .trim()
        .split(/\s+/);
      const command = COMMANDS.find((one) => one.name === name);
      assert.ok(command, `${block.path} line ${block.line}: ${line}`);
      readFlags(rest, [...command.flags, ...EVERYWHERE], command.name);
    }
  }
});

test('no command hides in a block without a language, and nothing has to be filled in first', () => {
  // Not the first line of the live view, which is "gossamer crawling".
  const names = COMMANDS.map(({ name }) => name).join('|');
  const command = new RegExp(`^(?:\\$ )?(?:npx )?(?:gossamer (?:${names}|-)\\b|npm )`, 'm');
  for (const { path, blocks } of pages) {
    for (const block of blocks) {
      const where = `${path} line ${block.line}`;
      if (!isForShell(block)) assert.doesNotMatch(block.text, command, where);
      else for (const line of typedIn(block)) assert.doesNotMatch(line, /<[a-z][\w -]*>/, where);
    }
  }
});
