/** Calls a function of the caller for the fetched pages of a crawl, and takes in what it follows. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SettledWork } from '../contract/settled-work.ts';
import { FILES, type Identity } from '../folder/folder.ts';
import { isArchived } from '../model/page.ts';
import type { Link } from '../model/link.ts';
import { isShared } from '../store/address.ts';
import { canonicalize } from '../url/canonical.ts';
import { siteOf } from '../url/site.ts';
import type { OnPage } from './handled-page.ts';
import { createPageCalls } from './page-calls.ts';
import { toCrawledPage, type CrawledPage } from './pages.ts';
import { openToRead } from '../folder/read.ts';

/** What the mark of handlers is called: rows are counted by each member where it has rows of its own. */
const markOf = ({ member }: Identity): string => (member === undefined ? 'handled' : `handled:${member}`);

export interface OnPageParts {
  readonly dir: string;
  /** The address of the store, with its password. */
  readonly url: string;
  readonly identity: Identity;
  readonly onPage: OnPage;
  readonly concurrency: number;
  /** Takes links into the running crawl; gives how many were new. */
  readonly admit: (links: () => readonly Link[]) => Promise<number>;
}

/** Calls `onPage` for every fetched page that this directory has the records of. */
export const callOnPage = ({ dir, url, identity, onPage, concurrency, admit }: OnPageParts): SettledWork => {
  const isElsewhere = isShared(identity.settings.store)
    ? (file: string): boolean => !existsSync(join(dir, FILES.warc, file))
    : (): boolean => false;
  return createPageCalls({
    mark: markOf(identity),
    concurrency,
    open: async () => (await openToRead(dir, url)).crawl,
    isOurs: (page) => isArchived(page) && !isElsewhere(page.warc_file),
    work: async (row) => {
      const page = toCrawledPage(dir, row);
      const followed: Promise<number>[] = [];
      const follow = (urls: string | readonly string[]): Promise<number> => {
        const adding = admit(() => linksFrom(page, typeof urls === 'string' ? [urls] : urls));
        followed.push(adding);
        return adding;
      };
      await onPage({ ...page, follow });
      await Promise.all(followed); // a handler need not wait for them itself
    },
  });
};

const linksFrom = ({ url, depth }: CrawledPage, urls: readonly string[]): Link[] =>
  urls.flatMap((href) => {
    const address = canonicalize(href, url);
    if (typeof address === 'string') return [];
    const site = siteOf(address.host);
    return [{ url: address.url, site, depth: depth + 1, via: url, hops: 0, fallback: false, first: false }];
  });
