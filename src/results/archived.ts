/** What was archived of a page, read back in a form to work with. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readFields } from '../archive/head.ts';
import { readRecords, splitHttp } from '../archive/reader.ts';
import { UsageError } from '../model/read-settings.ts';
import type { WarcPlace } from '../model/page.ts';
import { decodeBytes } from '../parse/charset.ts';
import { inflate } from '../parse/inflate.ts';
import { FILES } from '../folder/folder.ts';

export interface Archived {
  /** The text that a reader sees. */
  readonly text: string;
  /** The body, decoded. */
  readonly html: string;
  /** The heads of the request and of the answer, as they are in the archive. */
  readonly requestHead: string;
  readonly answerHead: string;
}

/** One part of what was archived of the page, in whichever directory that is; empty when it was not kept. */
export const readArchived = (dirs: readonly string[], place: WarcPlace, part: keyof Archived): string => {
  const path = archivePath(dirs, place.warc_file);
  if (path === null)
    throw new UsageError(
      `${place.warc_file} is not in ${dirs.map((dir) => `"${dir}"`).join(', ')}: it is in the directory of another member of this crawl, or was taken away; give that one too`,
    );
  for (const { headers, block } of readRecords(path, place.warc_offset, place.warc_offset + place.warc_group_length)) {
    if (headers['warc-type'] === TYPES[part]) return READERS[part](block);
  }
  return '';
};

/** Where a file of the archive lies; null when it is in none of these directories. No two members have one name. */
export const archivePath = (dirs: readonly string[], file: string): string | null =>
  dirs.map((dir) => join(dir, FILES.warc, file)).find((path) => existsSync(path)) ?? null;

const TYPES: Readonly<Record<keyof Archived, string>> = {
  text: 'conversion',
  html: 'response',
  requestHead: 'request',
  answerHead: 'response',
};

const READERS: Readonly<Record<keyof Archived, (block: Buffer) => string>> = {
  text: (block) => block.toString('utf8'),
  html: (block) => decoded(splitHttp(block)),
  requestHead: (block) => block.toString('latin1'),
  answerHead: (block) => splitHttp(block).head,
};

/** Far above what --body-max allows to inflate to. */
const INFLATED_BYTES_MAX = 512 * 1024 ** 2;

const decoded = ({ head, body }: { head: string; body: Buffer }): string => {
  const fields = readFields(head);
  const { bytes } = inflate(body, fields['content-encoding'] ?? '', { bytesMax: INFLATED_BYTES_MAX });
  return decodeBytes({ bytes, contentType: fields['content-type'] ?? '', html: true }).text;
};
