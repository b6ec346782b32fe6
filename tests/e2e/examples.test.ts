/** The examples, run as they are: they do what they say. */

import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openCrawl } from '../../src/index.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { runBinary } from '../support/binary.ts';
import { NEARBY } from '../support/gossamer-nearby.ts';
import { assertCode, assertNoFault, DELAY_MS, onStage, plainPlan, type Stage } from '../support/stage.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const preload = new URL('../support/as-package.ts', import.meta.url).href;

/** Runs an example in the folder of the stage, against its small web. */
const runExample = async ({ home, world, served }: Stage, name: string): Promise<string[]> => {
  const nearby = {
    seeds: world.seeds(),
    connectTo: served.connectTo,
    delayMs: DELAY_MS,
    timeoutMs: 60_000,
    diskReserveBytes: 0,
  };
  const ran = await runBinary([join(examples, name)], {
    cwd: home,
    command: [process.execPath, '--import', preload],
    env: { ...process.env, [NEARBY]: JSON.stringify(nearby) },
  });
  assertCode(ran, 0);
  assert.equal(ran.stderr, '');
  return ran.stdout.trimEnd().split('\n');
};

test('first-crawl crawls, and text-corpus makes a corpus of what it left', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const { size } = stage.world.reachable().pages;
    const lines = await runExample(stage, 'first-crawl.ts');
    assert.equal(lines.at(-1), `finished: ${size} pages are in ./crawl, 0 links still wait`);
    assert.match(lines[0] ?? '', /^crawling: \d+ pages, \d+\.\d a second$/);
    assertNoFault(stage.report());

    assert.deepEqual(await runExample(stage, 'text-corpus.ts'), [`${size} texts of ${size} pages are in ./corpus`]);
    const corpus = globSync('corpus/*.txt', { cwd: stage.home })
      .map((file) => readFileSync(join(stage.home, file), 'utf8'))
      .join('');
    const crawl = await openCrawl(stage.dir);
    for await (const page of crawl.pages()) assert.ok(corpus.includes(await page.text()), page.url);
    await crawl.close();
  }));

test('pages-to-jsonl writes a line for every page, with its text', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const wanted = [...stage.world.reachable().pages].toSorted();
    assert.deepEqual(await runExample(stage, 'pages-to-jsonl.ts'), [`${wanted.length} pages are in pages.jsonl`]);
    const rows = readFileSync(join(stage.home, 'pages.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string; text: string });
    assert.deepEqual(rows.map((row) => row.url).toSorted(), wanted);
    assert.ok(rows.every((row) => row.text.length > 100));
  }));

test('hooks prints what its module extracted of every page', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const lines = await runExample(stage, 'hooks.ts');
    assert.match(lines.pop() ?? '', /^links that were not wanted: \d+$/);
    assert.deepEqual(
      lines.map((line) => line.split(' ', 1)[0]!).toSorted(),
      [...stage.world.reachable().pages].toSorted(),
    );
    for (const line of lines) {
      const { words, linksAway } = JSON.parse(line.slice(line.indexOf(' ') + 1)) as Record<string, number>;
      assert.ok(words! > 10 && linksAway! >= 0, line);
    }
  }));

test('stop-and-resume names every page once over its two runs', () =>
  onStage(plainPlan(6, 90, 20), async (stage) => {
    const lines = await runExample(stage, 'stop-and-resume.ts');
    const { pages } = stage.world.reachable();
    assert.match(lines[10] ?? '', /^stopped after \d+ pages$/);
    assert.equal(lines.at(-1), `finished after ${pages.size} pages`);
    const urls = lines.filter((line) => line.startsWith('http'));
    assert.equal(new Set(urls).size, urls.length);
    assertNoFault(stage.report());
    assertArchivedOnce(await archivedIn(stage.dir), pages);
  }));

test('every example is short, says what it shows and how to run it, and is listed', () => {
  const listed = readFileSync(join(examples, 'README.md'), 'utf8');
  const names = readdirSync(examples).filter((name) => name.endsWith('.ts'));
  assert.ok(names.length >= 5);
  for (const name of names) {
    const lines = readFileSync(join(examples, name), 'utf8').trimEnd().split('\n');
    assert.ok(lines.length >= 10 && lines.length <= 30, `${name} has ${lines.length} lines`);
    assert.match(
      lines.slice(0, 3).join('\n'),
      /^\/\/ [A-Z].*\n(?:\/\/ [a-z].*\n)?\/\/ (Run it|From the command line): /,
      name,
    );
    assert.ok(listed.includes(`[${name}](${name})`), name);
  }
});
