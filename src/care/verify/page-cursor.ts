/** The settled pages of an archive in its order, taken one file and one offset at a time. */

import type { ArchivedRow } from '../../model/page.ts';

/** A settled page with its place, as far as the archive can confirm it. */
export interface PlacedPage {
  readonly row: number;
  readonly url: string;
  readonly digest: string;
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly groupLength: number;
}

export const placedPage = (page: ArchivedRow & { readonly row: number }): PlacedPage => ({
  row: page.row,
  url: page.url,
  digest: page.digest,
  file: page.warc_file,
  offset: page.warc_offset,
  length: page.warc_length,
  groupLength: page.warc_group_length,
});

export interface PageCursor {
  /** The file of the next page; null after the last. */
  nextFile(): Promise<string | null>;
  /** The next page of this file; null when there is none. */
  peek(file: string): Promise<PlacedPage | null>;
  takeAt(file: string, offset: number): Promise<PlacedPage[]>;
  takeBefore(file: string, offset: number): AsyncIterable<PlacedPage>;
  takeAll(file: string): AsyncIterable<PlacedPage>;
}

export const createPageCursor = (placed: AsyncIterator<PlacedPage>): PageCursor => {
  let next: IteratorResult<PlacedPage> | null = null;
  const look = async (): Promise<PlacedPage | null> => {
    next ??= await placed.next();
    return next.done ? null : next.value;
  };
  const peek = async (file: string): Promise<PlacedPage | null> => {
    const page = await look();
    return page?.file === file ? page : null;
  };
  async function* takeWhile(file: string, isWanted: (page: PlacedPage) => boolean): AsyncGenerator<PlacedPage> {
    for (let page = await peek(file); page !== null && isWanted(page); page = await peek(file)) {
      next = null;
      yield page;
    }
  }
  return {
    nextFile: async () => (await look())?.file ?? null,
    peek,
    takeAt: async (file, offset) => {
      const pages: PlacedPage[] = [];
      for await (const page of takeWhile(file, (one) => one.offset === offset)) pages.push(page);
      return pages;
    },
    takeBefore: (file, offset) => takeWhile(file, (page) => page.offset < offset),
    takeAll: (file) => takeWhile(file, () => true),
  };
};
