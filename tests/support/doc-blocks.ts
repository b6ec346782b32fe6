/** The code blocks of the documentation, as a reader would copy them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface DocBlock {
  readonly line: number;
  /** The first word behind the fence: `sh`, `yaml`, or nothing. */
  readonly language: string;
  /** Why it cannot be run by a test, from `norun=` behind the fence; null where it can. */
  readonly norun: string | null;
  readonly text: string;
}

export interface DocPage {
  readonly path: string;
  readonly blocks: readonly DocBlock[];
}

const FENCED = /^```(\S*)[^\S\n]*([^\n]*)\n([^]*?)^```$/gm;

const pageAt = (path: string): DocPage => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return {
    path,
    blocks: [...text.matchAll(FENCED)].map((found) => ({
      line: text.slice(0, found.index).split('\n').length,
      language: found[1]!,
      norun: /\bnorun=(\S+)/.exec(found[2]!)?.[1] ?? null,
      text: found[3]!,
    })),
  };
};

export const docPages = (): DocPage[] =>
  [
    'README.md',
    'CONTRIBUTING.md',
    'examples/README.md',
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .map((name) => `docs/${name}`),
  ].map(pageAt);

/** Whether a block is for a shell. */
export const isForShell = ({ language }: DocBlock): boolean => ['sh', 'bash', 'console'].includes(language);

/** What is typed: of a console with its output, the lines behind a `$`. */
export const typedIn = ({ language, text }: DocBlock): string[] => {
  const lines = text.trimEnd().split('\n');
  return language === 'console' ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)) : lines;
};

/** A block whose first line is a comment with the name of a file is that file. */
export const filesIn = ({ blocks }: DocPage): { name: string; text: string }[] =>
  blocks.flatMap(({ language, text }) => {
    const name = /^(?:#|\/\/) ([\w-]+\.(?:yaml|json|js|ts))\n/.exec(text)?.[1];
    return name !== undefined && !['sh', 'bash', 'console'].includes(language) ? [{ name, text }] : [];
  });
