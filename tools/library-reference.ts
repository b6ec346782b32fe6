/**
 * The reference page of the library, from the doc comments of what src/index.ts exports.
 *
 * TypeDoc and its kin need the compiler's JavaScript interface, which TypeScript 7 does not have: the declarations are
 * taken from the source text, whose layout the formatter keeps.
 */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url));

interface Declared {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'interface' | 'type' | 'constant';
  /** The doc comment as plain text; empty when there is none. */
  readonly says: string;
  readonly example: string;
  /** As it is written, without its body where that is code. */
  readonly text: string;
}

const DECLARATION = (name: string): RegExp =>
  new RegExp(`((?:/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?)export (?:declare )?(interface|type|const|class) ${name}\\b`);

export const libraryReference = (): Declared[] => {
  const source = readFileSync(entry, 'utf8');
  const names = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(([, list, path]) =>
    list!
      .split(',')
      .map((name) => ({ name: name.trim(), file: join(dirname(entry), path!) }))
      .filter(({ name }) => name !== ''),
  );
  const own = [...source.matchAll(/^export (?:interface|type|const|class) (\w+)/gm)].map(([, name]) => ({
    name: name!,
    file: entry,
  }));
  return [...own, ...names].map(({ name, file }) => declared(name, file));
};

const declared = (name: string, file: string): Declared => {
  const source = readFileSync(file, 'utf8');
  const found = DECLARATION(name).exec(source);
  if (!found) throw new Error(`${file} exports no ${name} that the reference page could show`);
  const [whole, comment, keyword] = found;
  const from = source.slice(found.index + comment!.length);
  const { says, example } = readComment(comment!);
  switch (keyword) {
    case 'interface':
    case 'class':
      return { name, kind: keyword, says, example, text: upToBrace(from) };
    case 'type':
      return { name, kind: 'type', says, example, text: upToBlank(from) };
    case 'const': {
      const isFunction = /^export const \w+ = (?:async )?\(/.test(from);
      const text = isFunction ? signatureOf(from) : from.slice(0, from.indexOf('\n'));
      return { name, kind: isFunction ? 'function' : 'constant', says, example, text };
    }
    default:
      throw new Error(`${whole} is of a kind that the reference page does not know`);
  }
};

/** Up to the brace that closes the first one. */
const upToBrace = (text: string): string => {
  let depth = 0;
  for (let at = text.indexOf('{'); at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return text.slice(0, at + 1);
  }
  throw new Error('a declaration has no end');
};

const upToBlank = (text: string): string => {
  const end = /;\n(?=\n|\/\*\*|export|const|$)/.exec(text);
  return text.slice(0, end ? end.index + 1 : undefined);
};

const signatureOf = (text: string): string => {
  const at = text.indexOf('): ');
  const end = text.indexOf(' =>', at);
  return text.slice(0, end).replace(/^export const (\w+) = (?:async )?\(/, 'export function $1(');
};

const readComment = (comment: string): { says: string; example: string } => {
  const lines = comment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''));
  const at = lines.findIndex((line) => line.startsWith('@example'));
  const text = (some: readonly string[]): string => some.join('\n').trim();
  return at < 0
    ? { says: text(lines).replace(/\n(?!\n)/g, ' '), example: '' }
    : { says: text(lines.slice(0, at)).replace(/\n(?!\n)/g, ' '), example: text(lines.slice(at + 1)) };
};

const TITLES: Readonly<Record<Declared['kind'], string>> = {
  function: 'Functions',
  class: 'Errors',
  interface: 'Types',
  type: 'Types',
  constant: 'Constants',
};

export const libraryPage = (note: string): string => {
  const all = libraryReference();
  const parts = [...new Set(Object.values(TITLES))].map((title) => {
    const some = all.filter(({ kind }) => TITLES[kind] === title);
    return some.length === 0 ? '' : `## ${title}\n\n${some.map(entryOf).join('\n\n')}`;
  });
  return `# The library\n\n${note}\n\nWhat \`import … from 'gossamer'\` gives ([how to use it](../how-to/use-as-a-library.md)).\n\n${parts.filter(Boolean).join('\n\n')}\n`;
};

const entryOf = ({ name, says, example, text }: Declared): string =>
  [
    `### ${name}`,
    says,
    `\`\`\`ts\n${text.replace(/^export /, '')}\n\`\`\``,
    ...(example === '' ? [] : [`Example:\n\n${example}`]),
  ]
    .filter(Boolean)
    .join('\n\n');
