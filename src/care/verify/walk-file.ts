/** One archive file beside the pages that have their places in it: each record has its page, each page its record. */

import { setImmediate } from 'node:timers/promises';
import { ArchiveFault } from '../../archive/archive.ts';
import { FILLER_KIND } from '../../archive/filler.ts';
import { readRecords, splitHttp, type WarcRecord } from '../../archive/reader.ts';
import { payloadDigest } from '../../archive/records.ts';
import { writeCount } from '../../lib/units.ts';
import { DEAD_FILE, type DeadSpan } from '../../archive/dead-list.ts';
import type { Finder } from './damage.ts';
import { needsFiller } from './fill.ts';
import type { PageCursor, PlacedPage } from './page-cursor.ts';

/** What has to be done about what was found; filled as the walk goes on. */
export interface ArchivePlan {
  readonly pagesBack: Set<number>;
  readonly urlsBack: Set<string>;
  dead: DeadSpan[];
}

export interface FileWalk {
  readonly path: string;
  readonly file: string;
  /** What comes after is not settled, or not there. */
  readonly limit: number;
  readonly pages: PageCursor;
  /** Bytes that an earlier repair gave up, in order. */
  readonly dead: readonly DeadSpan[];
  readonly found: Finder;
  readonly plan: ArchivePlan;
  readonly onProgress: (records: number, bytes: number) => void;
}

export interface FileFigures {
  records: number;
  /** Bytes of the records that open files: no page has them. */
  openingBytes: number;
}

/** The records of one page, or of none, from the first on. */
interface Group {
  readonly offset: number;
  readonly page: PlacedPage | null;
  readonly url: string;
  /** Why the page must be fetched again; null while all is well. */
  wrong: string | null;
}

export const walkFile = async (walk: FileWalk): Promise<FileFigures> => {
  const figures: FileFigures = { records: 0, openingBytes: 0 };
  let at = 0;
  let group: Group | null = null;
  let holes = walk.dead;
  while (at < walk.limit) {
    while (holes[0] && holes[0].offset + holes[0].bytes <= at) holes = holes.slice(1);
    const hole = holes[0];
    if (hole && hole.offset <= at) {
      group = close(walk, group, at);
      at = passHole(walk, at, Math.min(walk.limit, hole.offset + hole.bytes));
      continue;
    }
    try {
      for (const record of readRecords(walk.path, at, Math.min(walk.limit, hole?.offset ?? Infinity))) {
        group = await take(walk, { group, record, figures });
        at = record.offset + record.length;
        walk.onProgress(1, record.length);
      }
    } catch (error) {
      // What the system complains of (no permission, a failing disk) is not for a repair to judge.
      if (!(error instanceof ArchiveFault) || error.code !== '') throw error;
      at = await spoil(walk, { group, at, why: error.message, holeAt: hole?.offset ?? Infinity });
      group = null;
      await setImmediate(); // what zlib held when it failed is free only after the event loop has turned
    }
  }
  close(walk, group, at);
  for await (const page of walk.pages.takeAll(walk.file))
    missing(walk, page, `the archive ends before it, at ${walk.limit}`);
  return figures;
};

/** Bytes that are given up already. A repair that was killed may have listed them without filling them. */
const passHole = ({ path, file, found }: FileWalk, from: number, to: number): number => {
  if (needsFiller({ path, from, to })) {
    found.add({
      kind: 'record-damaged',
      file,
      offset: from,
      says: `${file} offset ${from}: ${writeCount(to - from)} bytes that are listed in ${DEAD_FILE} cannot be read, and stop other readers`,
    });
  }
  return to;
};

const take = async (
  walk: FileWalk,
  { group, record, figures }: { group: Group | null; record: WarcRecord; figures: FileFigures },
): Promise<Group | null> => {
  figures.records++;
  const { offset, headers } = record;
  const kind = kindOf(headers);
  if (kind === 'part' && group !== null) return group;
  close(walk, group, offset);
  for await (const page of walk.pages.takeBefore(walk.file, offset)) missing(walk, page, 'no record begins there');
  if (kind === 'opening') figures.openingBytes += record.length;
  if (kind === 'opening' || kind === 'robots' || kind === 'filler') {
    for (const page of await walk.pages.takeAt(walk.file, offset))
      missing(walk, page, 'another kind of record begins there');
    return null;
  }
  const url = headers['warc-target-uri'] ?? '';
  const pages = await walk.pages.takeAt(walk.file, offset);
  const page = pages.find((one) => one.url === url) ?? pages[0] ?? null;
  for (const other of pages) if (other !== page) missing(walk, other, `the record of ${url} is there`);
  return { offset, page, url, wrong: page && wrongOf(page, record) };
};

type Kind = 'opening' | 'robots' | 'filler' | 'page' | 'part';

/** A page begins with its response, or with its text where only that is kept. */
const kindOf = (headers: WarcRecord['headers']): Kind => {
  if (headers['gossamer-kind'] === 'robots') return 'robots';
  if (headers['gossamer-kind'] === FILLER_KIND) return 'filler';
  switch (headers['warc-type']) {
    case 'warcinfo':
      return 'opening';
    case 'response':
      return 'page';
    case 'conversion':
      return headers['warc-refers-to'] === undefined ? 'page' : 'part';
    default:
      return 'part';
  }
};

const wrongOf = (page: PlacedPage, { headers, block, length }: WarcRecord): string | null => {
  const url = headers['warc-target-uri'];
  if (url !== page.url) return `it is the record of ${url}`;
  if (length !== page.length) return `it has ${length} bytes, but ${page.length} were settled`;
  if (headers['warc-type'] === 'conversion')
    return headers['warc-block-digest'] === payloadDigest(block) ? null : 'its text does not match its digest';
  const { body } = splitHttp(block);
  const digest = payloadDigest(body);
  if (headers['warc-payload-digest'] !== digest) return 'its body does not match its digest';
  // The row of an answer without a body has no digest.
  return page.digest === digest || (page.digest === '' && body.length === 0)
    ? null
    : `its digest is ${digest}, but ${page.digest || 'none'} was settled`;
};

/** The group ends here: is it as long as its page says, and is there a page at all? */
const close = (walk: FileWalk, group: Group | null, end: number): null => {
  if (group === null) return null;
  const { page, offset, url } = group;
  const { file, found, plan } = walk;
  const bytes = end - offset;
  if (page === null) {
    found.add({
      kind: 'record-orphan',
      file,
      offset,
      url,
      says: `${file} offset ${offset}: the record of ${url} belongs to no page`,
    });
    plan.urlsBack.add(url);
    plan.dead.push({ file, offset, bytes, why: `no page: ${url}` });
    return null;
  }
  const wrong =
    group.wrong ??
    (bytes === page.groupLength ? null : `its records have ${bytes} bytes, but ${page.groupLength} were settled`);
  if (wrong === null) return null;
  found.add({
    kind: 'record-wrong',
    file,
    offset,
    url: page.url,
    says: `${file} offset ${offset}: the record of ${page.url} is not right: ${wrong}`,
  });
  plan.pagesBack.add(page.row);
  if (url !== page.url) plan.urlsBack.add(url);
  plan.dead.push({ file, offset, bytes, why: `not right: ${page.url}` });
  return null;
};

const missing = ({ file, found, plan }: FileWalk, page: PlacedPage, why: string): void => {
  const { offset, url, row } = page;
  found.add({
    kind: 'record-missing',
    file,
    offset,
    url,
    says: `${file} offset ${offset}: the record of ${url} is not there: ${why}`,
  });
  plan.pagesBack.add(row);
};

/** Nothing can be read from here on: says what it was, and where the next record begins as far as rows tell. */
const spoil = async (
  walk: FileWalk,
  { group, at, why, holeAt }: { group: Group | null; at: number; why: string; holeAt: number },
): Promise<number> => {
  const { file, found, plan, pages, limit } = walk;
  const groupEnd = group?.page ? group.offset + group.page.groupLength : 0;
  const isInside = group !== null && group.page !== null && at < groupEnd;
  if (!isInside) close(walk, group, at);
  for await (const page of pages.takeBefore(file, at)) missing(walk, page, 'no record begins there');
  const victims = isInside ? [group.page!] : await pages.takeAt(file, at);
  const from = isInside ? group.offset : at;
  const ends = [
    groupEnd,
    ...victims.map((page) => page.offset + page.groupLength),
    (await pages.peek(file))?.offset ?? 0,
    holeAt,
  ].filter((end) => end > at);
  const next = Math.min(limit, ...ends);
  for (const page of victims) plan.pagesBack.add(page.row);
  const urls = victims.map((page) => page.url).join(', ');
  found.add({
    kind: 'record-damaged',
    file,
    offset: at,
    ...(victims[0] ? { url: victims[0].url } : {}),
    says: `${file} offset ${at}: ${reasonOf(why)}: ${urls ? `it belongs to ${urls}` : 'it belongs to no page'}`,
  });
  plan.dead.push({ file, offset: from, bytes: next - from, why: urls ? `damaged: ${urls}` : 'damaged' });
  return next;
};

/** The reader names the path and the offset, which stand here already. */
const reasonOf = (message: string): string =>
  message.replace(/^the record at offset \d+ of ".*" cannot be read/, 'a record cannot be read');
