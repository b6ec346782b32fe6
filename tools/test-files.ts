/** Which test files there are, which need a server, and which belong to a room. */

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const found = (root: string, pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted();

export const allTests = (root: string): { rooms: string[]; binary: string[] } => ({
  rooms: found(root, 'tests/{,simulation/}*.test.ts'),
  binary: found(root, 'tests/e2e/*.test.ts'),
});

/** Support files that start another program: whoever imports one, also by way of another file, is not quick. */
const STARTS_A_PROGRAM =
  /tests\/support\/(?:binary|debian-packages|postgres-server|redis-server|prometheus|shells)\.ts$/;

const importsOf = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path!)),
  );

const startsProgram = (root: string, file: string, seen = new Set<string>()): boolean => {
  if (STARTS_A_PROGRAM.test(file)) return true;
  if (seen.has(file) || !file.startsWith('tests/') || !existsSync(join(root, file))) return false;
  seen.add(file);
  return importsOf(root, file).some((target) => startsProgram(root, target, seen));
};

export const quickTests = (root: string): string[] =>
  found(root, 'tests/*.test.ts').filter((file) => !startsProgram(root, file));

const roomsOf = (root: string): string[] =>
  readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** Tests are named after their room; where none is, those count that import from it. */
const roomTests = (root: string, room: string): string[] => {
  const named = found(root, `tests/${room}{,-*}.test.ts`);
  const users = (): string[] =>
    found(root, 'tests/*.test.ts').filter((file) =>
      importsOf(root, file).some((target) => target.startsWith(`src/${room}/`)),
    );
  return named.length > 0 ? named : users();
};

/** A word is a file, a room of src, `rooms` for all of them, a folder of tests, or how names begin (`store-redis`). */
export const testsNamed = (root: string, words: readonly string[]): string[] =>
  words.flatMap((word) => {
    if (word.endsWith('.ts')) {
      if (existsSync(join(root, word))) return [word];
      throw new Error(`there is no file ${word}`);
    }
    if (word === 'rooms') return found(root, 'tests/*.test.ts');
    const files = [...roomTests(root, word), ...found(root, `tests/${word}/*.test.ts`)];
    if (files.length > 0) return files;
    const binary = found(root, `tests/e2e/${word}{,-*}.test.ts`);
    if (binary.length > 0) return binary;
    throw new Error(
      `no test belongs to "${word}": name a file, e2e, simulation, or a room: ${roomsOf(root).join(', ')}`,
    );
  });
