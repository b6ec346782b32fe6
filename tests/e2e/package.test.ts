/** The package as others get it: packed, installed in an empty project, and run without its sources. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/folder/version.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { runBinary, type Ran } from '../support/binary.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gossamer-package-'));
const project = join(home, 'project');
const installed = join(project, 'node_modules', 'gossamer');
const bin = join(project, 'node_modules', '.bin', 'gossamer');

/** This Node first, and nothing of the npm that runs the tests but where packages come from. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache|userconfig)$)/i.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};
const npm = (cwd: string, ...args: readonly string[]): Promise<Ran> => runBinary(args, { command: ['npm'], cwd, env });

before(async () => {
  // A copy, because packing builds into the folder that is packed.
  const clone = join(home, 'clone');
  mkdirSync(clone);
  for (const name of readdirSync(root)) {
    if (!/^(node_modules|dist|\.git|\.servers|crawl|demo-crawl|bench-crawl.*)$/.test(name))
      cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  assertCode(await npm(clone, 'pack', '--pack-destination', home), 0);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  assertCode(
    await npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(home, `gossamer-${VERSION}.tgz`)),
    0,
  );
});
after(() => rmSync(home, { recursive: true, force: true }));

test('the package holds what was built, its types and the examples, but no sources and no tests', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  for (const name of [
    'package.json',
    'bin/gossamer.js',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/main.js',
    'dist/threads/store-thread.js',
    'dist/store/sqlite/sql/schema.sql',
    'dist/store/redis/lua/claim.lua',
    'dist/store/postgres/sql/claim.sql',
    'examples/first-crawl.ts',
  ]) {
    assert.ok(files.includes(name), name);
  }
  assert.deepEqual(
    files.filter(
      (name) =>
        /^(src|tests|tools|bench|demo)\b/.test(name) ||
        (name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('examples/')),
    ),
    [],
  );
});

test('the installed binary tells its version', async () => {
  const ran = await runBinary(['--version'], { command: [bin], cwd: project, env });
  assertCode(ran, 0);
  assert.equal(ran.stdout, `gossamer ${VERSION}\n`);
});

test('the installed binary crawls', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    assertCode(await runBinary(stage.crawlWords(), { command: [bin], cwd: project, env }), 0);
    assertNoFault(stage.report());
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    const ran = await runBinary(['status', stage.dir, '--json'], { command: [bin], cwd: project, env });
    assert.equal((JSON.parse(ran.stdout) as { pages: number }).pages, stage.world.reachable().pages.size);
  }));

test('the installed library crawls', () =>
  onStage(plainPlan(4, 20), async (stage) => {
    const program = join(project, 'program.js');
    writeFileSync(
      program,
      `
      import { crawl } from 'gossamer';
      const run = await crawl(JSON.parse(process.argv[2]));
      const { reason, census } = await run.ended;
      console.log(reason, census.pages);
    `,
    );
    const options = {
      email: 'test@example.org',
      dir: stage.dir,
      seeds: stage.world.seeds(),
      connectTo: stage.served.connectTo,
      delayMs: 50,
      diskReserveBytes: 0,
    };
    const ran = await runBinary([program, JSON.stringify(options)], { command: [process.execPath], cwd: project, env });
    assertCode(ran, 0);
    assert.equal(ran.stdout, `finished ${stage.world.reachable().pages.size}\n`);
  }));
