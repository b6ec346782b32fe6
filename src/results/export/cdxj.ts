/** The index by which pywb finds pages in the archive: one line per response, sorted by key and time. */

import { payloadDigest } from '../../archive/records.ts';
import { isArchived, type PageRow } from '../../model/page.ts';
import { surtOf } from '../../url/surt.ts';

/** What an index calls a body of which the server did not say what it is. */
const MIME_UNKNOWN = 'unk';
/** The row of an answer without a body has no digest; its record has that of nothing. */
const DIGEST_OF_NOTHING = payloadDigest(new Uint8Array(0));

/** The line of a page whose response is archived; null for any other. ASCII, so that it sorts the same everywhere. */
export const cdxjLine = (page: PageRow): string | null => {
  const { url, status } = page;
  if (!isArchived(page) || status === null) return null;
  const fields = {
    url,
    mime: page.content_type.split(/[; ]/, 1)[0] || MIME_UNKNOWN,
    status: String(status),
    digest: (page.digest || DIGEST_OF_NOTHING).replace(/^sha1:/, ''),
    length: String(page.warc_length),
    offset: String(page.warc_offset),
    filename: page.warc_file,
  };
  return `${surtOf(url)} ${stampOf(page.time)} ${asciiJson(fields)}`;
};

/** `20261115204500`, as cut from the date of the record. */
const stampOf = (at: number): string => new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);

const asciiJson = (fields: object): string =>
  JSON.stringify(fields).replace(/[\x7f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
