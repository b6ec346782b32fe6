/** `--credentials FILE`: what to log in with, for this process alone. */

import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { unreadable } from '../folder/seeds.ts';
import { writeBytes } from '../lib/units.ts';
import { addSecret, readCredential, readOrigin, type SecretHeaders } from '../model/credentials.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Header } from '../model/request-headers.ts';
import { CONFIG_BYTES_MAX, readSections, type Entry, type Scalar } from './config-text.ts';
import type { Flag, Read } from './flags.ts';

export const CREDENTIALS_FLAG: Flag = {
  name: 'credentials',
  value: 'FILE',
  says: 'logins for https origins; never stored',
};

export interface CredentialsParts {
  readonly say: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What `--credentials` gives; null without it. */
export const credentialsOf = async ({ values }: Read, say: (text: string) => void): Promise<SecretHeaders | null> => {
  const path = values.get(CREDENTIALS_FLAG.name)?.[0];
  return path === undefined ? null : readCredentialsFile(path, { say, environment: process.env });
};

/** Throws a UsageError with the place of the first mistake; no sentence quotes what may be a secret. */
export const readCredentialsFile = async (
  path: string,
  { say, environment }: CredentialsParts,
): Promise<SecretHeaders> => {
  const { text, isOpen } = textOf(path);
  const secrets = new Map<string, readonly Header[]>();
  const isJson = extname(path).toLowerCase() === '.json';
  for (const { name, where, entries } of await readSections(path, text, isJson ? 'json' : 'yaml')) {
    const read = readOrigin(name);
    if ('why' in read) throw new UsageError(`${where}: ${read.why}`);
    if (secrets.has(read.origin)) throw new UsageError(`${where}: ${read.origin} is given twice`);
    secrets.set(read.origin, headersOf(entries, environment));
  }
  if (isOpen)
    say(`"${path}" holds credentials and can be read by other users of this machine: chmod 600 keeps them out`);
  return secrets;
};

const textOf = (path: string): { text: string; isOpen: boolean } => {
  try {
    const { size, mode } = statSync(path);
    if (size > CONFIG_BYTES_MAX)
      throw new UsageError(
        `"${path}" has ${writeBytes(size)}, and credentials have at most ${writeBytes(CONFIG_BYTES_MAX)}`,
      );
    return { text: readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), isOpen: (mode & 0o044) !== 0 };
  } catch (error) {
    throw error instanceof UsageError ? error : unreadable(path, error);
  }
};

const headersOf = (entries: readonly Entry[], environment: CredentialsParts['environment']): Header[] => {
  const headers: Header[] = [];
  for (const { name, value } of entries) {
    for (const item of value.kind === 'list' ? value.items : [value]) {
      const complain = (why: string): UsageError => new UsageError(`${item.where}: ${name} ${why}`);
      const given = givenIn(name, item, environment);
      if ('why' in given) throw complain(given.why);
      const reading = readCredential(name, given.text);
      const why = 'why' in reading ? reading.why : addSecret(headers, reading.header);
      if (why !== null) throw complain(why);
    }
  }
  return headers;
};

type Given = { readonly text: string } | { readonly why: string };

/** As written, or from the environment: all of it, or what follows the user or the name of the header. */
const givenIn = (kind: string, { value, text }: Scalar, environment: CredentialsParts['environment']): Given => {
  if (value === null || text === '') return { why: 'has no value' };
  const [, before = '', rest = text] = /^([^:]*: *)(.*)$/s.exec(text) ?? [];
  if (variableOf(text) === null && (kind === 'basic' || kind === 'header')) {
    const part = fromEnvironment(rest, environment);
    return 'why' in part ? part : { text: before + part.text };
  }
  return fromEnvironment(text, environment);
};

/** The name of `$NAME` or `${NAME}`. */
const variableOf = (text: string): string | null => {
  const [, plain, braced] = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(text) ?? [];
  return plain ?? braced ?? null;
};

const fromEnvironment = (text: string, environment: CredentialsParts['environment']): Given => {
  const name = variableOf(text);
  if (name === null) return { text };
  const value = environment[name];
  return value === undefined || value === ''
    ? { why: `names the environment variable ${name}, which is not set` }
    : { text: value };
};
