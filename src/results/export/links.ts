/**
 * The links that pages have, read back from the archive: those of settled pages only, because only they have a place.
 */

import { openRecordFile, type RecordFile, type WarcRecord } from '../../archive/reader.ts';
import { LINKS_CUT, OUTLINK } from '../../archive/records.ts';
import { archivePath } from '../archived.ts';
import { isArchived, type WarcPlace, type PageRow } from '../../model/page.ts';

export interface PageLinks {
  readonly urls: readonly string[];
  /** Links that the page had besides, over the ceiling of what is archived. */
  readonly cut: number;
}

/** The archive beside the rows of pages; the last file stays open, because pages come in its order. */
export class PageRecords {
  readonly #dirs: readonly string[];
  readonly #elsewhere = new Set<string>();
  #file = '';
  #open: RecordFile | null = null;

  /** The directories of the crawl that are at hand. */
  constructor(dirs: readonly string[]) {
    this.#dirs = dirs;
  }

  /**
   * Where the page leads; none when it has no links, or they were not kept. Null when its file is in none of the
   * directories.
   */
  linksOf(page: PageRow): PageLinks | null {
    if (!isArchived(page) || page.warc_group_length === page.warc_length) return NO_LINKS;
    const record = this.#at(page, page.warc_offset + page.warc_length);
    return record && (record.headers['warc-type'] === 'metadata' ? linksIn(record) : NO_LINKS);
  }

  /** Whether the page's first record is its response, and not its text; null when its file is not at hand. */
  hasResponse(place: WarcPlace): boolean | null {
    const record = this.#at(place, place.warc_offset);
    return record && record.headers['warc-type'] === 'response';
  }

  close(): void {
    const open = this.#open;
    this.#open = null;
    open?.close();
  }

  #at(
    { warc_file: file, warc_offset: offset, warc_group_length: groupLength }: WarcPlace,
    at: number,
  ): WarcRecord | null {
    if (this.#elsewhere.has(file)) return null;
    if (file !== this.#file || this.#open === null) {
      this.close();
      const path = archivePath(this.#dirs, file);
      if (path === null) {
        this.#elsewhere.add(file);
        return null;
      }
      this.#open = openRecordFile(path);
      this.#file = file;
    }
    return this.#open.at(at, offset + groupLength);
  }
}

const NO_LINKS: PageLinks = { urls: [], cut: 0 };

const linksIn = ({ headers, block }: WarcRecord): PageLinks => ({
  urls: block
    .toString('utf8')
    .split('\r\n')
    .flatMap((line) => (line.startsWith(OUTLINK) ? [line.slice(OUTLINK.length)] : [])),
  cut: Number(headers[LINKS_CUT.toLowerCase()] ?? 0),
});
