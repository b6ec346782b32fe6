/**
 * All archive files in order, up to the settled end: what is missing, damaged or left over, and where a repair would
 * end it.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { archiveFiles, serialOf } from '../../archive/files.ts';
import { writeBytes, writeCount } from '../../lib/units.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { PlacedRow } from '../../store/sqlite/check.ts';
import { joinSpans, type DeadSpan } from '../../archive/dead-list.ts';
import type { Finder } from './damage.ts';
import { createPageCursor, type PageCursor } from './page-cursor.ts';
import { walkFile, type ArchivePlan, type FileFigures } from './walk-file.ts';

export interface ArchiveOptions {
  /** `<crawl>/warc`. */
  readonly dir: string;
  /** Pages that have a place, in the order of the archive. */
  readonly rows: Iterator<PlacedRow>;
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

interface Course extends ArchiveOptions {
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
  const course: Course = {
    ...options,
    endSerial,
    files,
    pages: createPageCursor(options.rows),
    plan: { pagesBack: new Set(), urlsBack: new Set(), dead: [] },
    total: files.reduce((sum, file) => sum + limitOf(file, settled), 0),
    openings: new Map(),
    reported: new Set(),
    done: 0,
    records: 0,
  };
  const later = all.filter(({ serial }) => serial > endSerial);
  if (later.length > 0) found.leave(`${later.map(({ name }) => name).join(', ')}: begun after the settled end`);
  await walkAll(course);
  reportGaps(course);
  const end = endOf(course);
  course.plan.dead = course.plan.dead.filter((span) => !isAfter(span, end));
  return {
    files: files.length,
    bytes: course.total,
    records: course.records,
    end,
    plan: course.plan,
    archivedBytes: files.reduce(
      (sum, file) => sum + Math.max(0, limitOf(file, end) - (course.openings.get(file.name) ?? 0)),
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

/** Whether this stretch lies behind the end, where the archive will be written again. */
export const isAfter = ({ file, offset }: Pick<DeadSpan, 'file' | 'offset'>, end: ArchiveEnd): boolean =>
  file === end.file ? offset >= end.bytes : (serialOf(file) ?? -1) > (serialOf(end.file) ?? -1);

/** Files and pages side by side, both in the order of the names of files. */
const walkAll = async (course: Course): Promise<void> => {
  const { files, pages } = course;
  for (let i = 0; i < files.length || pages.nextFile() !== null; ) {
    const file = files[i];
    const wanted = pages.nextFile();
    if (file && (wanted === null || file.name <= wanted)) {
      await walkOne(course, file);
      i++;
    } else strayPages(course, wanted!);
  }
};

const walkOne = async (course: Course, file: DiskFile): Promise<void> => {
  const { dir, settled, found, pages, plan, total } = course;
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
    dead: joinSpans(course.dead.filter((span) => span.file === name && span.bytes > 0)),
    onProgress: (_, bytes) => course.onProgress((course.done += bytes), total),
  });
  course.records += figures.records;
  course.openings.set(name, figures.openingBytes);
};

/** Pages of a file that is not there, or that comes after the settled end. */
const strayPages = (course: Course, file: string): void => {
  const { found, plan, pages, endSerial } = course;
  const serial = serialOf(file);
  const isLater = serial !== null && serial > endSerial;
  if (!isLater) missingFile(course, file);
  if (serial !== null) course.reported.add(serial);
  const why = isLater ? 'it comes after the settled end of the archive' : 'the file is missing';
  for (const { id, url, offset } of pages.takeAll(file)) {
    found.add({
      kind: 'record-missing',
      file,
      offset,
      url,
      says: `${file} offset ${offset}: the record of ${url} is not there: ${why}`,
    });
    plan.pagesBack.add(id);
  }
};

const missingFile = ({ found, plan }: Course, file: string): void => {
  found.add({ kind: 'file-missing', file, says: `${file} is missing, though its pages are settled` });
  plan.dead.push({ file, offset: 0, bytes: 0, why: 'the file is gone' });
};

/** Every number up to the last has a file, also where no page tells of it. */
const reportGaps = (course: Course): void => {
  const { endSerial, settled, files } = course;
  const there = new Set([...files.map(({ serial }) => serial), ...course.reported]);
  for (const { file, bytes } of course.dead)
    if (bytes === 0) there.add(Number(/-(\d+)\.warc\.gz$/.exec(file)?.[1] ?? -1));
  for (let serial = 0; serial <= endSerial; serial++) {
    if (there.has(serial)) continue;
    missingFile(course, serial === endSerial ? settled.file : `gossamer-*-${String(serial).padStart(5, '0')}.warc.gz`);
  }
};

/** The archive goes on behind its last sound record: damage that reaches the settled end is cut off, not listed. */
const endOf = ({ settled, files, plan, dead }: Course): ArchiveEnd => {
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
