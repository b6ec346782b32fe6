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

const roomOf = (file: string): string => file.split('/')[1]!.replace(/\.ts$/, '');
const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  );

/** The rows of the table after a heading of the architecture page. */
const rowsAfter = (heading: string): string[][] => {
  const [, rest = ''] = textOf('docs/architecture.md').split(`\n## ${heading}\n`);
  const [section = ''] = rest.split('\n## ');
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
};

/** Each room with those that it imports from, as the architecture page draws them: from the door to the ground. */
const ROOMS: ReadonlyMap<string, readonly string[]> = new Map(
  rowsAfter('The rooms').map(([room = '', , imports = '']) => [
    room.replaceAll('`', ''),
    [...imports.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  ]),
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

test('the architecture page has every room, and an arrow for every import and no other', () => {
  const arrows = new Map<string, Set<string>>();
  for (const file of sources) {
    const room = roomOf(file);
    if (!arrows.has(room)) arrows.set(room, new Set());
    for (const target of importsOf(file)) if (roomOf(target) !== room) arrows.get(room)!.add(roomOf(target));
  }
  const drawn = (all: ReadonlyMap<string, Iterable<string>>): object =>
    Object.fromEntries([...all].map(([room, targets]) => [room, [...targets].toSorted()] as const).toSorted());
  assert.deepEqual(drawn(ROOMS), drawn(arrows));
});

test('imports point one way: a room knows only rooms below it', () => {
  const order = [...ROOMS.keys()];
  const wrong = [...ROOMS].flatMap(([room, targets]) =>
    targets
      .filter((target) => order.indexOf(target) <= order.indexOf(room))
      .map((target) => `${room} imports from ${target}`),
  );
  assert.deepEqual(wrong, []);
});

const WORDS_MAX = 40;

test(`the glossary has at most ${WORDS_MAX} words, each said in a sentence, and the names it gives are in the code`, () => {
  const words = rowsAfter('Glossary');
  assert.ok(words.length > 0 && words.length <= WORDS_MAX, `${words.length} words`);
  const code = sources.map(textOf).join('\n');
  const missing = words.flatMap(([word = '', meaning = '']) => {
    const names = [...meaning.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name!);
    const isThere = names.every((name) => new RegExp(`export (?:interface|type|class|const) ${name}\\b`).test(code));
    return isThere && new RegExp(`\\b${word.split(' ')[0]}`, 'i').test(code) ? [] : [word];
  });
  assert.deepEqual(missing, []);
});

test('every decision page has a date and a status, and stands in their index', () => {
  const index = textOf('docs/decisions/README.md');
  const wrong = globSync('docs/decisions/*.md', { cwd: root })
    .filter((file) => !file.endsWith('README.md'))
    .filter((file) => {
      const [title = '', , decided = ''] = textOf(file).split('\n');
      const [, date, status] = /^Decided (\d{4}-\d\d-\d\d)\. Status: (.+)\.$/.exec(decided) ?? [];
      const row = `| [${title.replace(/^# /, '')}](${file.split('/').at(-1)}) | ${date} | ${status} |`;
      return date === undefined || !index.includes(row);
    });
  assert.deepEqual(wrong, []);
});

test('a doc comment makes sense alone in a tooltip', () => {
  const vague = sources.flatMap((file) =>
    [...textOf(file).matchAll(/\/\*\*\s*(?:\*\s*)?(?:Of|Those|The same|Its)\b[^\n]*/g)].map(
      ([comment]) => `${file}: ${comment}`,
    ),
  );
  assert.deepEqual(vague, []);
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
    'src/folder/folder.ts',
    'src/threads/store-thread.ts',
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
