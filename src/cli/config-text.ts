/** From the text of a YAML or JSON file to its names and values, each with its place in the file. */

import type { LineCounter, Node, ParsedNode } from 'yaml';
import { UsageError } from '../model/read-settings.ts';

/** A file of settings is written by hand; a megabyte of seeds belongs into a seed file. */
export const CONFIG_BYTES_MAX = 1024 ** 2;

/** Each is looked up in the whole document, so many of them in a large file would take hours. */
export const ALIASES_MAX = 100;

export interface Scalar {
  readonly kind: 'scalar';
  /** `crawl.yaml line 3 column 8`. */
  readonly where: string;
  readonly value: string | number | boolean | null;
  /** As written, without quotes. */
  readonly text: string;
}

export interface List {
  readonly kind: 'list';
  readonly where: string;
  readonly items: readonly Scalar[];
}

export interface Entry<Value = Scalar | List> {
  readonly name: string;
  readonly where: string;
  readonly value: Value;
}

/** Names and values inside of a value. */
export interface Mapping {
  readonly kind: 'mapping';
  readonly where: string;
  readonly entries: readonly Entry<Scalar | List | Mapping>[];
}

export const isMapping = (entry: Entry<Scalar | List | Mapping>): entry is Entry<Mapping> =>
  entry.value.kind === 'mapping';

/** How deep the values of a name may go: `sites` has hosts, these have values, and headers have fields. */
const DEPTHS: Readonly<Record<string, number>> = { sites: 3 };

export type Format = 'yaml' | 'json';

interface Text {
  readonly path: string;
  readonly text: string;
  readonly format: Format;
  /** No sentence quotes what is in the file, but for its names. */
  readonly secret: boolean;
  /** How many mappings may lie inside of each other below a name. */
  readonly depthOf: (name: string) => number;
}

/**
 * One entry for each name of the file; only those of `DEPTHS` have a mapping for a value. Throws a UsageError with the
 * place of the first mistake.
 */
export const readEntries = (path: string, text: string, format: Format): Promise<(Entry | Entry<Mapping>)[]> => {
  const depthOf = (name: string): number => (Object.hasOwn(DEPTHS, name) ? DEPTHS[name]! : 0);
  return readMapping({ path, text, format, secret: false, depthOf }) as Promise<(Entry | Entry<Mapping>)[]>;
};

/** A name of a file of secrets, with names and values below it. */
export interface Section {
  readonly name: string;
  readonly where: string;
  readonly entries: readonly Entry[];
}

/** One section for each name of a file of secrets. Throws a UsageError with the place of the first mistake. */
export const readSections = async (path: string, text: string, format: Format): Promise<Section[]> => {
  const entries = await readMapping({ path, text, format, secret: true, depthOf: () => 1 });
  return entries.map((entry) => {
    if (!isMapping(entry))
      throw new UsageError(`${entry.value.where}: this is not a mapping: write names and values below it`);
    return { name: entry.name, where: entry.where, entries: entry.value.entries as readonly Entry[] };
  });
};

const readMapping = async ({
  path,
  text,
  format,
  secret,
  depthOf,
}: Text): Promise<Entry<Scalar | List | Mapping>[]> => {
  // Loaded here: a crawl without a file does not pay for it.
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // JSON is YAML too, and this reader knows where things stand. Names are compared below, where both can be named.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    ...(format === 'json' ? { schema: 'json' } : {}),
  });
  const place = placeIn(path, lines);
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake) {
    const why = secret ? 'put a text with a colon, a quote or a # into quotes' : plain(mistake.message);
    throw new UsageError(`${place(mistake.pos[0])}: this is not ${format.toUpperCase()}: ${why}`);
  }
  const top = document.contents;
  if (!yaml.isMap<ParsedNode, ParsedNode | null>(top)) {
    throw new UsageError(
      `${place(top?.range[0] ?? 0)}: this is not a mapping: write names and values${secret ? '' : `, such as ${format === 'json' ? '{ "delay": "5s" }' : 'delay: 5s'}`}`,
    );
  }
  if (format === 'json') {
    // JSON.parse does not tell where this one is.
    yaml.visit(document, {
      Scalar: (_, node) => {
        if (node.type === 'QUOTE_SINGLE')
          throw new UsageError(`${place(node.range?.[0] ?? 0)}: this is not JSON: a text has double quotes`);
      },
    });
    checkJson(path, text);
  }

  let aliases = 0;
  /** What an alias stands for. Each use counts, so aliases of aliases cannot grow. */
  const resolved = (node: Node | null): Node | null => {
    if (!yaml.isAlias(node)) return node;
    if (++aliases > ALIASES_MAX)
      throw new UsageError(
        `${place(node.range?.[0] ?? 0)}: there are more than ${ALIASES_MAX} aliases: write the values themselves`,
      );
    return node.resolve(document) ?? null;
  };
  const scalarOf = (node: ParsedNode | null, name: string, meant = resolved(node)): Scalar => {
    const where = place(node?.range[0] ?? 0);
    if (yaml.isScalar(meant) && isPlainValue(meant.value)) {
      return { kind: 'scalar', where, value: meant.value, text: meant.source ?? String(meant.value) };
    }
    if (yaml.isAlias(node))
      throw new UsageError(
        `${where}: ${name} ${secret ? 'begins with * and' : `*${node.source}`} stands for nothing: put it in quotes if it is a text`,
      );
    throw new UsageError(`${where}: ${name} has values inside values: write a plain one, or a list of plain ones`);
  };
  const givenValue = (node: ParsedNode | null, name: string, depth: number): Scalar | List | Mapping => {
    const meant = resolved(node);
    const where = place(node?.range[0] ?? 0);
    if (yaml.isSeq<ParsedNode | null>(meant))
      return { kind: 'list', where, items: meant.items.map((item) => scalarOf(item, name)) };
    if (depth > 0 && yaml.isMap<ParsedNode, ParsedNode | null>(meant))
      return { kind: 'mapping', where, entries: entriesOf(meant, () => depth - 1) };
    return scalarOf(node, name, meant);
  };
  const entriesOf = (
    { items }: { readonly items: readonly { key: ParsedNode; value: ParsedNode | null }[] },
    depthBelow: (name: string) => number,
  ): Entry<Scalar | List | Mapping>[] => {
    const seen = new Map<string, number>();
    return items.map(({ key, value }) => {
      const at = key.range[0];
      const where = place(at);
      if (!yaml.isScalar(key) || typeof key.value !== 'string')
        throw new UsageError(`${where}: this is not a name: write one${secret ? '' : ' such as delay'}`);
      const name = key.value;
      const before = seen.get(name);
      if (before !== undefined)
        throw new UsageError(
          `${where}: ${secret ? 'this' : name} is given twice, first in line ${lines.linePos(before).line}`,
        );
      seen.set(name, at);
      return { name, where, value: givenValue(value, name, depthBelow(name)) };
    });
  };
  return entriesOf(top, depthOf);
};

const placeIn =
  (path: string, lines: LineCounter) =>
  (at: number): string => {
    const { line, col } = lines.linePos(at);
    return `${path} line ${Math.max(1, line)} column ${Math.max(1, col)}`; // an empty file has no first line
  };

const isPlainValue = (value: unknown): value is Scalar['value'] =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** What YAML allows beyond JSON (comments, block style, single quotes) is a mistake in a file that is named JSON. */
const checkJson = (path: string, text: string): void => {
  try {
    JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
    throw new UsageError(
      `${path}${line === undefined ? '' : ` line ${line} column ${column}`}: this is not JSON: ${plain(message.split(/, ?(?:"|\.\.\.)| in JSON at /)[0]!)}`,
    );
  }
};

/** A message of the reader as the end of our sentence. */
const plain = (message: string): string => {
  if (message.includes('call stack')) return 'it is nested too deeply';
  if (message.includes('multiple documents')) return 'only one document can be in it';
  const line = message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
  return line.charAt(0).toLowerCase() + line.slice(1);
};
