/**
 * Where the last batches of settlements lie in this member's archive.
 *
 * The rows of pages are in the database, and go back in time with it when a replica that lags takes over, or when it
 * is restored. The records stay in the archive, and belong to no page then. This log says which they are, also to a
 * process that comes later.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadRecords } from '../../contract/walk.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import type { ArchiveEnd } from '../../model/census.ts';

/** In the directory of the member. */
const FILE = 'batches.log';
/** The newest are kept, at about a hundred bytes each: some hours of a busy crawl. */
const KEPT_MAX = 20_000;
/** Two for each batch, with its answer; and the file may have twice the batches that are kept before it is cut. */
const LINES_PER_BATCH = 4;

export interface LoggedBatch {
  readonly number: number;
  /** Where the archive ended with it. */
  readonly end: ArchiveEnd;
  readonly records: readonly DeadRecords[];
}

export interface BatchLog {
  /** Notes a batch whose records are in the archive; whether it is settled is not yet known. */
  add(batch: LoggedBatch): void;
  /** Notes that the store has answered a batch: if it does not know it later, it has forgotten it. */
  answer(number: number): void;
  /** The last batch that the store has answered; 0 for none. */
  answered(): number;
  /** Batches after that number, in order; null when not all of them are remembered. */
  after(number: number): readonly LoggedBatch[] | null;
}

/** `made` names the crawl: the log of another one is dropped. Without a directory, nothing outlives the process. */
export const openBatchLog = (dir: string, made: string, keptMax = KEPT_MAX): BatchLog => {
  const path = dir === '' ? null : join(dir, FILE);
  let { batches, answered } = path ? readLog(path, made) : { batches: [], answered: 0 };
  let lines = 0;
  const write = (): void => {
    lines = batches.length + 1;
    if (path) replaceFile(path, [made, ...batches.map((one) => JSON.stringify(one)), answered, ''].join('\n'));
  };
  const append = (line: string): void => {
    if (++lines > LINES_PER_BATCH * keptMax) write();
    else if (path) appendFileSync(path, `${line}\n`);
  };
  write();
  return {
    add: (batch) => {
      // A batch that was refused is tried again under its number.
      batches = withBatch(batches, batch);
      if (batches.length > 2 * keptMax) batches = batches.slice(-keptMax);
      append(JSON.stringify(batch));
    },
    answer: (number) => {
      answered = number;
      try {
        append(String(number));
      } catch {
        // The batch is settled whatever the disk says; the next append of records will say it, too.
      }
    },
    answered: () => answered,
    after: (number) => {
      const later = batches.filter((batch) => batch.number > number);
      return later.length === 0 || later[0]!.number === number + 1 ? later : null;
    },
  };
};

/** Appends in place: the log is as long as a crawl is busy. */
const withBatch = (batches: LoggedBatch[], batch: LoggedBatch): LoggedBatch[] => {
  while ((batches.at(-1)?.number ?? 0) >= batch.number) batches.pop();
  batches.push(batch);
  return batches;
};

const readLog = (path: string, made: string): { batches: LoggedBatch[]; answered: number } => {
  const batches: LoggedBatch[] = [];
  let answered = 0;
  const [of, ...lines] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  if (of !== made) return { batches, answered };
  for (const line of lines.slice(0, -1)) {
    const read = readLine(line);
    if (typeof read === 'number') answered = read;
    else if (read !== null) withBatch(batches, read);
  }
  return { batches, answered };
};

/** Null for a line that was half written when the machine stopped. */
const readLine = (line: string): LoggedBatch | number | null => {
  try {
    return JSON.parse(line) as LoggedBatch | number;
  } catch {
    return null;
  }
};

/** What the records of these batches take, without those that open files. */
export const bytesOf = (batches: readonly LoggedBatch[]): number =>
  batches.reduce((sum, { records }) => sum + records.reduce((bytes, one) => bytes + one.bytes, 0), 0);

/** Records that lie next to each other are one stretch. */
export const joinRecords = (records: readonly DeadRecords[]): DeadRecords[] => {
  const joined: DeadRecords[] = [];
  for (const one of records) {
    const last = joined.at(-1);
    if (last?.file === one.file && last.offset + last.bytes === one.offset)
      joined[joined.length - 1] = { ...last, bytes: last.bytes + one.bytes };
    else joined.push(one);
  }
  return joined;
};
