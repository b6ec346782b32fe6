/** Seeds on their way into a crawl: read, copied into its directory, and loaded with a mark. */

import { once } from 'node:events';
import {
  appendFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import type { Store } from '../contract/store.ts';
import { writeCount } from '../lib/units.ts';
import type { Link } from '../model/link.ts';
import { UsageError } from '../model/read-settings.ts';
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

export interface SeedSource {
  readonly file: string | null;
  readonly urls: readonly string[];
}

export interface SeedReport {
  readonly good: number;
  readonly bad: number;
}

/** Lines of a file, one at a time; throws a UsageError when it cannot be read. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path, 'utf8');
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
  readonly far: (lines: string) => void;
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
  for (const url of source.urls) if (judge(url, '--url')) yield url.trim();
  if (source.file !== null) {
    let number = 0;
    let saidAt = performance.now();
    for await (const line of linesOf(source.file)) {
      if (judge(line, `${source.file} line ${++number}`)) yield line.trim();
      if (number % LINES_BETWEEN_LOOKS === 0 && performance.now() - saidAt > SAY_MS) {
        saidAt = performance.now();
        far(`${writeCount(number)} lines`);
      }
    }
  }
  if (report.bad > BAD_LINES_NAMED_MAX) bad(`${report.bad - BAD_LINES_NAMED_MAX} more bad lines were skipped`);
}

/** Looks through the seeds before anything is changed; throws a UsageError when there is no good one. */
export const checkSeeds = async (source: SeedSource, say: Say): Promise<SeedReport> => {
  if (source.file !== null && isReadOnce(source.file))
    throw new UsageError(`"${source.file}" is a pipe or a device, and seeds are read twice: put them into a file`);
  const report = { good: 0, bad: 0 };
  for await (const _ of goodLines(
    source,
    { bad: say, far: (lines) => say(`checking the seeds: ${lines} of ${source.file}`) },
    report,
  ));
  if (report.good === 0) {
    throw new UsageError(
      source.file === null
        ? 'there is no good seed: give a domain, host or URL by --url'
        : `there is no good seed in "${source.file}": give a domain, host or URL a line, or --url`,
    );
  }
  return report;
};

export interface CopyParts {
  readonly dir: string;
  readonly source: SeedSource;
  readonly where: 'anew' | 'behind';
  readonly say: Say;
}

const isReadOnce = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
};

/** Copies the good seeds into the crawl, behind those that it has or anew. The file is whole at every moment. */
export const copySeeds = async ({ dir, source, where, say }: CopyParts): Promise<void> => {
  const path = join(dir, FILES.seeds);
  const out = createWriteStream(`${path}.new`, { flush: true });
  const write = async (line: string): Promise<void> => {
    if (!out.write(`${line}\n`)) await once(out, 'drain');
  };
  if (where === 'behind' && existsSync(path)) for await (const line of linesOf(path)) await write(line);
  const listener: Listener = { bad: () => {}, far: (lines) => say(`copying the seeds: ${lines} of ${source.file}`) };
  for await (const line of goodLines(source, listener, { good: 0, bad: 0 })) await write(line);
  out.end();
  await finished(out);
  renameSync(`${path}.new`, path);
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
  readonly stop: AbortSignal;
  readonly onProgress: (loaded: number) => void;
}

/**
 * Admits the seeds that are not loaded yet. The mark follows the admission, so a crash in between
 * admits some again, which the store takes as seen; it never skips one.
 */
export const loadSeeds = async ({ dir, member, store, stop, onProgress }: LoadParts): Promise<void> => {
  const mark = markOf(member);
  const done = (await store.census()).marks[mark] ?? 0;
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

/** The sites of all seeds, as few bytes each. */
export const seededSites = async (dir: string): Promise<SiteSet> => {
  const sites = new Set<string>();
  for await (const { site } of seedLinks(dir)) sites.add(site);
  return createSiteSet(sites);
};

/** Checks an exclude file and gives its names, one a line. A bad line here could cost a call, so it stops. */
export const readExcludeFile = (path: string): string => {
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
  return names.map((name) => `${name}\n`).join('');
};

export const writeExcluded = (dir: string, names: string): void => replaceFile(join(dir, FILES.excluded), names);

export const excludedSites = (dir: string): SiteSet | null => {
  const path = join(dir, FILES.excluded);
  if (!existsSync(path)) return null;
  const names = readFileSync(path, 'utf8')
    .split('\n')
    .filter((name) => name !== '');
  return names.length > 0 ? createSiteSet(names) : null;
};
