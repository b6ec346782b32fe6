/**
 * All archive files in order, up to the settled end: what is missing, damaged or left over, and where a repair would
 * end it.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { archiveFiles, serialOf } from '../../archive/files.ts';
import { writeBytes, writeCount } from '../../lib/units.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { joinSpans, type DeadSpan } from '../../archive/dead-list.ts';
import type { Finder } from './damage.ts';
import { createPageCursor, type PageCursor, type PlacedPage } from './page-cursor.ts';
import { walkFile, type ArchivePlan, type FileFigures } from './walk-file.ts';

export interface ArchiveOptions {
  /** `<crawl>/warc`. */
  readonly dir: string;
  /** Pages that have a place, in the order of the archive. */
  readonly pages: AsyncIterator<PlacedPage>;
  readonly settled: ArchiveEnd;
  /** What an earlier repair gave up. */
  readonly dead: readonly DeadSpan[];
  readonly found: Finder;
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
}

export interface ArchiveReport {
  readonly files: number;
  readonly bytes: number;
  readonly records: number;
  /** Where the settled part ends, or would after a repair. */
  readonly end: ArchiveEnd;
  /** Bytes up to there, without the records that open files. */
  readonly archivedBytes: number;
  readonly plan: ArchivePlan;
}

interface DiskFile {
  readonly name: string;
  readonly serial: number;
  readonly size: number;
}

interface Checking extends Omit<ArchiveOptions, 'pages'> {
  readonly endSerial: number;
  readonly pages: PageCursor;
  readonly plan: ArchivePlan;
  /** Files up to the settled end, in the order of their names, as the pages come. */
  readonly files: readonly DiskFile[];
  readonly total: number;
  readonly openings: Map<string, number>;
  readonly reported: Set<number>;
  done: number;
  records: number;
}

export const checkArchive = async (options: ArchiveOptions): Promise<ArchiveReport> => {
  const { settled, found } = options;
  const endSerial = settled.file === '' ? -1 : (serialOf(settled.file) ?? -1);
  const all = filesIn(options.dir);
  const files = all.filter(({ serial }) => serial <= endSerial);
  const checking: Checking = {
    ...options,
    endSerial,
    files,
    pages: createPageCursor(options.pages),
    plan: { pagesBack: new Set(), urlsBack: new Set(), dead: [] },
    total: files.reduce((sum, file) => sum + limitOf(file, settled), 0),
    openings: new Map(),
    reported: new Set(),
    done: 0,
    records: 0,
  };
  const later = all.filter(({ serial }) => serial > endSerial);
  if (later.length > 0) found.leave(`${later.map(({ name }) => name).join(', ')}: begun after the settled end`);
  await walkAll(checking);
  reportGaps(checking);
  const end = endOf(checking);
  checking.plan.dead = checking.plan.dead.filter((span) => !isAfter(span, end));
  return {
    files: files.length,
    bytes: checking.total,
    records: checking.records,
    end,
    plan: checking.plan,
    archivedBytes: files.reduce(
      (sum, file) => sum + Math.max(0, limitOf(file, end) - (checking.openings.get(file.name) ?? 0)),
      0,
    ),
  };
};

const filesIn = (dir: string): DiskFile[] =>
  archiveFiles(dir).map((file) => ({ ...file, size: statSync(join(dir, file.name)).size }));

/** How much of a file is settled, and there. */
const limitOf = ({ name, serial, size }: DiskFile, end: ArchiveEnd): number => {
  if (name === end.file) return Math.min(size, end.bytes);
  return serial > (serialOf(end.file) ?? -1) ? 0 : size;
};

/** Whether this stretch lies after the end, where the archive will be written again. */
export const isAfter = ({ file, offset }: Pick<DeadSpan, 'file' | 'offset'>, end: ArchiveEnd): boolean =>
  file === end.file ? offset >= end.bytes : (serialOf(file) ?? -1) > (serialOf(end.file) ?? -1);

/** Files and pages side by side, both in the order of the names of files. */
const walkAll = async (checking: Checking): Promise<void> => {
  const { files, pages } = checking;
  for (let i = 0; i < files.length || (await pages.nextFile()) !== null; ) {
    const file = files[i];
    const wanted = await pages.nextFile();
    if (file && (wanted === null || file.name <= wanted)) {
      await walkOne(checking, file);
      i++;
    } else await strayPages(checking, wanted!);
  }
};

const walkOne = async (checking: Checking, file: DiskFile): Promise<void> => {
  const { dir, settled, found, pages, plan, total } = checking;
  const { name, size } = file;
  if (name === settled.file && size < settled.bytes) {
    found.add({
      kind: 'file-short',
      file: name,
      offset: size,
      says: `${name} has ${writeCount(size)} bytes, but ${writeCount(settled.bytes)} were settled`,
    });
  }
  if (name === settled.file && size > settled.bytes)
    found.leave(`${name}: ${writeBytes(size - settled.bytes)} after its settled end, at ${settled.bytes}`);
  const figures: FileFigures = await walkFile({
    path: join(dir, name),
    file: name,
    limit: limitOf(file, settled),
    pages,
    found,
    plan,
    dead: joinSpans(checking.dead.filter((span) => span.file === name && span.bytes > 0)),
    onProgress: (_, bytes) => checking.onProgress((checking.done += bytes), total),
  });
  checking.records += figures.records;
  checking.openings.set(name, figures.openingBytes);
};

/** Pages of a file that is not there, or that comes after the settled end. */
const strayPages = async (checking: Checking, file: string): Promise<void> => {
  const { found, plan, pages, endSerial } = checking;
  const serial = serialOf(file);
  const isLater = serial !== null && serial > endSerial;
  if (!isLater) missingFile(checking, file);
  if (serial !== null) checking.reported.add(serial);
  const why = isLater ? 'it comes after the settled end of the archive' : 'the file is missing';
  for await (const { row, url, offset } of pages.takeAll(file)) {
    found.add({
      kind: 'record-missing',
      file,
      offset,
      url,
      says: `${file} offset ${offset}: the record of ${url} is not there: ${why}`,
    });
    plan.pagesBack.add(row);
  }
};

const missingFile = ({ found, plan }: Checking, file: string): void => {
  found.add({ kind: 'file-missing', file, says: `${file} is missing, though its pages are settled` });
  plan.dead.push({ file, offset: 0, bytes: 0, why: 'the file is gone' });
};

/** Every number up to the last has a file, also where no page tells of it. */
const reportGaps = (checking: Checking): void => {
  const { endSerial, settled, files } = checking;
  const there = new Set([...files.map(({ serial }) => serial), ...checking.reported]);
  for (const { file, bytes } of checking.dead)
    if (bytes === 0) there.add(Number(/-(\d+)\.warc\.gz$/.exec(file)?.[1] ?? -1));
  for (let serial = 0; serial <= endSerial; serial++) {
    if (there.has(serial)) continue;
    missingFile(
      checking,
      serial === endSerial ? settled.file : `gossamer-*-${String(serial).padStart(5, '0')}.warc.gz`,
    );
  }
};

/** The archive goes on after its last sound record: damage that reaches the settled end is cut off, not listed. */
const endOf = ({ settled, files, plan, dead }: Checking): ArchiveEnd => {
  if (settled.file === '') return settled;
  const last = files.find(({ name }) => name === settled.file);
  if (last) {
    const limit = limitOf(last, settled);
    const fresh = plan.dead.filter(({ file }) => file === settled.file);
    if (last.size >= settled.bytes && !fresh.some(({ offset, bytes }) => offset + bytes >= limit)) return settled;
    const broken = joinSpans([
      ...fresh,
      ...dead.filter(({ file, offset }) => file === settled.file && offset < limit),
    ]).at(-1);
    const bytes = broken && broken.offset + broken.bytes >= limit ? broken.offset : limit;
    if (bytes > 0) return { file: settled.file, bytes };
  }
  const before = files
    .filter(({ name }) => name !== settled.file)
    .toSorted((a, b) => a.serial - b.serial)
    .at(-1);
  return before ? { file: before.name, bytes: before.size } : { file: '', bytes: 0 };
};
