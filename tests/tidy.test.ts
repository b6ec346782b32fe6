/** The cheap rules of style, kept by a test. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { staleReferences } from '../tools/reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('src/**/*.ts', { cwd: root }).toSorted();
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const LINES_MAX = 400;
const WIDTH_MAX = 120;
const everyFile = (): string[] => [...sources, ...globSync('{tests,tools,bench,demo,examples}/**/*.ts', { cwd: root })];

/**
 * From the door to the ground: a room imports only from rooms further down. Rooms of one row are blind to each other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['index'],
  ['cli'],
  ['crawl'],
  ['threads'],
  ['store'],
  ['frontier'],
  ['politeness', 'fetch', 'parse', 'archive', 'observe', 'world'],
  ['url'],
  ['model'],
  ['lib'],
];

const roomOf = (file: string): string => file.split('/')[1]!.replace(/\.ts$/, '');
const layerOf = (file: string): number => LAYERS.findIndex((rooms) => rooms.includes(roomOf(file)));
const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  );

/** What a clone has at its top. */
const AT_TOP =
  /^(\.ci|\.github|bench|bin|demo|deploy|docs|examples|src|tests|tools|\.(editorconfig|gitignore|git-blame-ignore-revs|npmrc|nvmrc)|(CHANGELOG|CONTRIBUTING|README|SECURITY)\.md|LICENSE|biome\.json|package(-lock)?\.json|tsconfig(\.\w+)?\.json)$/;

test('nothing was committed that a run or a tool left lying about', (t) => {
  const { status, stdout } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) return t.skip('not a clone');
  assert.deepEqual(
    [
      ...new Set(
        stdout
          .trim()
          .split('\n')
          .map((file) => file.split('/')[0]!),
      ),
    ].filter((name) => !AT_TOP.test(name)),
    [],
  );
});

test('every source file belongs to a room', () => {
  assert.deepEqual(
    sources.filter((file) => layerOf(file) < 0),
    [],
  );
});

test('imports point one way: a room knows only rooms below it', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file) && layerOf(target) <= layerOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('no imports go round in a circle, types included', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    for (const target of importsOf(file)) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of sources) walk(file, []);
  assert.deepEqual(circles, []);
});

test(`no file has more than ${LINES_MAX} lines`, () => {
  assert.deepEqual(
    everyFile().filter((file) => textOf(file).split('\n').length > LINES_MAX + 1),
    [],
  );
});

test(`no comment is wider than ${WIDTH_MAX} characters: the formatter leaves them alone`, () => {
  const wide = everyFile().flatMap((file) =>
    textOf(file)
      .split('\n')
      .map((line, n) => ({ at: `${file}:${n + 1}`, line }))
      // A row of a table cannot be broken.
      .filter(({ line }) => line.length > WIDTH_MAX && /^\s*(?:\/\/|\/?\*(?! \|))/.test(line)),
  );
  assert.deepEqual(
    wide.map(({ at }) => at),
    [],
  );
});

test('every source file opens with a sentence', () => {
  assert.deepEqual(
    sources.filter((file) => !/^\/\*\*[^]*?\w[^]*?[.?!][^]*?\*\//.test(textOf(file).slice(0, 1_500))),
    [],
  );
});

test('no name is a shelf word', () => {
  const shelf = /(?:manager|helper|util|misc|handler)/i;
  const names = sources.flatMap((file) => [
    file,
    ...[...textOf(file).matchAll(/\b(?:const|function|class|interface|type)\s+(\w+)/g)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  ]);
  assert.deepEqual(
    names.filter((name) => shelf.test(name.split(': ').at(-1)!)),
    [],
  );
});

test('time and chance come from few places', () => {
  // The clock is handed in; wall time for people (logs, terminal, names of files) is not the crawl's time.
  const allowed = [
    'src/lib/clock.ts',
    'src/cli/',
    'src/observe/',
    'src/world/',
    'src/crawl/folder.ts',
    'src/threads/store-thread.ts',
    'src/store/sqlite/reader.ts',
  ];
  const wrong = sources.filter(
    (file) => /Date\.now\(|Math\.random\(/.test(textOf(file)) && !allowed.some((prefix) => file.startsWith(prefix)),
  );
  assert.deepEqual(wrong, []);
});

test('the reference pages are those that the code would write', () => {
  assert.deepEqual(staleReferences(), [], 'run `npm run docs`');
});

test('every dependency has its line in a decision page', () => {
  const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const page = textOf('docs/decisions/dependencies.md');
  assert.deepEqual(
    Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

test('the lock file names no registry', () => {
  assert.doesNotMatch(textOf('package-lock.json'), /"resolved": "https?:/);
});
