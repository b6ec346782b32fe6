/** Seeds on their way into a crawl: read, copied into its directory, and loaded with a mark. */

import { once } from 'node:events';
import {
  accessSync,
  constants,
  appendFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import type { Store } from '../contract/store.ts';
import { plural, writeCount } from '../lib/units.ts';
import type { Link } from '../model/link.ts';
import { UsageError } from '../model/read-settings.ts';
import type { ScopeKind } from '../model/scope-kind.ts';
import type { Settings } from '../model/settings.ts';
import { canonicalize } from '../url/canonical.ts';
import { homeKeys } from '../url/homes.ts';
import { siteOf } from '../url/site.ts';
import { compileSiteRules, type SiteRules } from '../url/site-rules.ts';
import { readExcluded, readSeed } from '../url/seed.ts';
import { createSiteSet, type SiteSet } from '../url/site-set.ts';
import { replaceFile } from '../lib/replace-file.ts';
import { FILES } from './folder.ts';

/** Bad lines that are named one by one; the others are counted. */
const BAD_LINES_NAMED_MAX = 20;
/** Seeds admitted in one transaction, then marked as loaded. */
const BATCH = 2_000;
/** Every member of a crawl has seeds of its own, and a mark of its own. */
const markOf = (member: string | undefined): string => (member === undefined ? 'seeds' : `seeds:${member}`);
/** A large file tells how far it is, this often; for the first time before anybody wonders. */
const SAY_MS = 1_500;
const LINES_BETWEEN_LOOKS = 10_000;

/** Stands for standard input among the files of seeds; a file of that name is `./-`. */
export const STANDARD_INPUT = '-';

export interface SeedSource {
  /** Each may be a pipe: it is read once. */
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

/** A source of seeds in a sentence. */
const nameOf = (file: string): string => (file === STANDARD_INPUT ? 'standard input' : file);

/** Lines of a file, one at a time; throws a UsageError when it cannot be read. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const stream = path === STANDARD_INPUT ? process.stdin.setEncoding('utf8') : createReadStream(path, 'utf8');
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) yield line;
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    stream.destroy();
  }
}

/** A file of the user's that cannot be read, as a sentence. */
export const unreadable = (path: string, error: unknown): UsageError => {
  const { code, message } = error as { code?: string; message: string };
  const why = code === 'ENOENT' ? 'it does not exist' : code === 'EISDIR' ? 'it is a directory' : message;
  return new UsageError(`"${path}" cannot be read: ${why}`);
};

type Say = (text: string) => void;

interface Listener {
  /** A line that is bad, and why. */
  readonly bad: Say;
  /** How many lines were read, as time goes by. */
  readonly far: (lines: string, file: string) => void;
}

/** Every good seed line of the source; what is bad is said, with its number. */
async function* goodLines(
  source: SeedSource,
  { bad, far }: Listener,
  report: { good: number; bad: number },
): AsyncGenerator<string> {
  const judge = (line: string, where: string): boolean => {
    const seed = readSeed(line);
    if (seed.kind === 'link') report.good++;
    if (seed.kind === 'bad' && ++report.bad <= BAD_LINES_NAMED_MAX) bad(`${where}: ${seed.why}; skipped`);
    return seed.kind === 'link';
  };
  for (const [i, url] of source.urls.entries()) if (judge(url, `seed ${i + 1}`)) yield url.trim();
  let saidAt = performance.now();
  for (const file of source.files) {
    let number = 0;
    for await (const line of linesOf(file)) {
      if (judge(line, `${nameOf(file)} line ${++number}`)) yield line.trim();
      if (number % LINES_BETWEEN_LOOKS === 0 && performance.now() - saidAt > SAY_MS) {
        saidAt = performance.now();
        far(`${writeCount(number)} lines`, nameOf(file));
      }
    }
  }
  if (report.bad > BAD_LINES_NAMED_MAX)
    bad(`${plural(report.bad - BAD_LINES_NAMED_MAX, 'more bad line was', 'more bad lines were')} skipped`);
}

/** Throws a UsageError when a file is not there or cannot be read. Reads nothing: what a pipe has comes once. */
export const checkSeedFiles = ({ files }: SeedSource): void => {
  for (const file of files) {
    if (file === STANDARD_INPUT) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      throw unreadable(file, error);
    }
    if (statSync(file).isDirectory()) throw unreadable(file, { code: 'EISDIR' });
  }
};

export interface TakeParts {
  readonly dir: string;
  readonly source: SeedSource;
  readonly where: 'anew' | 'behind';
  readonly say: Say;
}

/**
 * Reads the seeds, once, and writes the good ones into the crawl, behind those that it has or anew. The file is whole
 * at every moment. Throws a UsageError when there is no good one, and then leaves it as it was.
 */
export const takeSeeds = async ({ dir, source, where, say }: TakeParts): Promise<void> => {
  const path = join(dir, FILES.seeds);
  const fresh = `${path}.new`;
  const out = createWriteStream(fresh, { flush: true });
  const write = async (line: string): Promise<void> => {
    if (!out.write(`${line}\n`)) await once(out, 'drain');
  };
  const report = { good: 0, bad: 0 };
  const listener: Listener = { bad: say, far: (lines, file) => say(`reading the seeds: ${lines} of ${file}`) };
  try {
    if (where === 'behind' && existsSync(path)) for await (const line of linesOf(path)) await write(line);
    for await (const line of goodLines(source, listener, report)) await write(line);
    if (report.good === 0) throw noGoodSeed(source);
    out.end();
    await finished(out);
    renameSync(fresh, path);
  } catch (error) {
    out.destroy();
    await finished(out).catch(() => {}); // a file that is still being opened would be made again
    rmSync(fresh, { force: true });
    throw error;
  }
};

const noGoodSeed = ({ files }: SeedSource): UsageError => {
  const named = files.map((file) => (file === STANDARD_INPUT ? nameOf(file) : `"${file}"`));
  return new UsageError(
    named.length === 0
      ? 'there is no good seed among those given: give a domain, host or URL'
      : `there is no good seed in ${named.join(' or ')}: give a domain, host or URL a line, or --url`,
  );
};

/**
 * Adds seeds to a crawl that runs: behind its others, and on disk before anybody goes on. Throws a UsageError when one
 * is bad, and has then changed nothing. They are behind the mark of what is loaded: the next start admits them again,
 * which the store takes as seen.
 */
export const addSeeds = (dir: string, lines: readonly string[]): Link[] => {
  const links = lines.map((line) => {
    const seed = readSeed(line);
    if (seed.kind === 'link') return seed.link;
    throw new UsageError(`--url: ${seed.kind === 'bad' ? seed.why : 'a seed is empty'}`);
  });
  appendFileSync(join(dir, FILES.seeds), lines.map((line) => `${line.trim()}\n`).join(''), { flush: true });
  return links;
};

export interface LoadParts {
  readonly dir: string;
  /** The member's id, for a process that joined the crawl. */
  readonly member?: string | undefined;
  readonly store: Store;
  /** All of them: the store may have forgotten some. */
  readonly again: boolean;
  readonly stop: AbortSignal;
  readonly onProgress: (loaded: number) => void;
}

/**
 * Admits the seeds that are not loaded yet. The mark follows the admission, so a crash in between
 * admits some again, which the store takes as seen; it never skips one.
 */
export const loadSeeds = async ({ dir, member, store, again, stop, onProgress }: LoadParts): Promise<void> => {
  const mark = markOf(member);
  const done = again ? 0 : ((await store.census()).marks[mark] ?? 0);
  let line = 0;
  let batch: Link[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await store.admit(batch);
    batch = [];
    if (line > done) await store.steer([{ kind: 'mark', name: mark, value: line }]);
    onProgress(line);
  };
  for await (const text of linesOf(join(dir, FILES.seeds))) {
    if (stop.aborted) return;
    if (++line <= done) continue;
    const seed = readSeed(text);
    if (seed.kind === 'link') batch.push(seed.link);
    if (batch.length >= BATCH) await flush();
  }
  await flush();
};

/** The seeds of this member, one at a time. */
export async function* seedLinks(dir: string): AsyncGenerator<Link> {
  for await (const text of linesOf(join(dir, FILES.seeds))) {
    const seed = readSeed(text);
    if (seed.kind === 'link') yield seed.link;
  }
}

/** Where the seeds of this directory are at home: the keys, in the order of the seeds. */
export async function* seedHomes(dir: string, settings: HomeSettings): AsyncGenerator<string> {
  const scopes = scopesOf(settings);
  yield* scopes.wide;
  const path = join(dir, FILES.seeds);
  if (!existsSync(path)) return;
  for await (const line of linesOf(path)) yield* homesOfLine(line, scopes);
}

/** The keys of the homes that the text of a seed file names. */
export const homesOfLines = (text: string, settings: HomeSettings): string[] => {
  const scopes = scopesOf(settings);
  return [...scopes.wide, ...text.split('\n').flatMap((line) => homesOfLine(line, scopes))];
};

/** The settings that say what the homes are. */
export type HomeSettings = Pick<Settings, 'scope' | 'sites'>;

interface Scopes {
  readonly scope: ScopeKind;
  readonly rules: SiteRules;
  /** The homes that rules give to sites and hosts of which everything is wanted. */
  readonly wide: readonly string[];
}

const scopesOf = ({ scope, sites }: HomeSettings): Scopes => {
  const scoped = (sites ?? []).filter((rule) => rule.scope !== undefined);
  const wide = scope === 'any' ? [] : scoped.filter((rule) => rule.scope === 'any');
  return {
    scope,
    rules: compileSiteRules(scoped),
    wide: wide.flatMap(({ name }) => {
      const address = canonicalize(`https://${name}/`);
      return typeof address === 'string' ? [] : homeKeys(siteOf(name) === name ? 'site' : 'host', address);
    }),
  };
};

const homesOfLine = (line: string, { scope, rules }: Scopes): string[] => {
  // Most lines are one word, and mean nothing here where everything is wanted.
  if (scope === 'any' && rules.size === 0 && !/\S\s+\S/.test(line)) return [];
  const seed = readSeed(line);
  if (seed.kind !== 'link') return [];
  const address = canonicalize(seed.link.url);
  if (typeof address === 'string') return [];
  const kind = seed.home ?? rules.of(address.host).scope ?? scope;
  return kind === 'any' ? [] : homeKeys(kind, address);
};

/** Checks an exclude file and gives its names. A bad line here could cost a call, so it stops. */
export const readExcludeFile = (path: string): string[] => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
  const names: string[] = [];
  text.split('\n').forEach((line, i) => {
    const read = readExcluded(line);
    if (read.kind === 'bad')
      throw new UsageError(`${path} line ${i + 1}: ${read.why}; mend it, so that nothing is called that should not be`);
    if (read.kind === 'name') names.push(read.name);
  });
  return names;
};

/** Keeps the names as a file of the crawl; one that has never had any gets none. */
export const writeExcluded = (dir: string, names: readonly string[]): void => {
  const path = join(dir, FILES.excluded);
  const text = names.map((name) => `${name}\n`).join('');
  if (existsSync(path) ? readFileSync(path, 'utf8') !== text : text !== '') replaceFile(path, text);
};

/** The names that are kept as a file of the crawl. */
export const excludedNames = (dir: string): string[] => {
  const path = join(dir, FILES.excluded);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((name) => name !== '');
};

export const siteSetOf = (names: readonly string[]): SiteSet | null => (names.length > 0 ? createSiteSet(names) : null);

export const excludedSites = (dir: string): SiteSet | null => siteSetOf(excludedNames(dir));
