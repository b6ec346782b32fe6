/** What parsing a page yields. */

export interface Findings {
  readonly title: string;
  /** `lang` of the html element, or Content-Language; empty when unknown. */
  readonly language: string;
  /** Name of the encoding the text was read with, in the words of the Encoding Standard. */
  readonly charset: string;
  /** Whether nothing named that encoding. */
  readonly charsetGuessed: boolean;
  /** What relative addresses are resolved against: `<base href>` if there is one, or the page. */
  readonly base: string;
  /**
   * Addresses as written (entities decoded, trimmed), in order, those to follow only; of several that differ in their
   * fragments the first.
   */
  readonly hrefs: readonly string[];
  /** The sitemaps that a sitemap lists, as written. */
  readonly sitemaps?: readonly string[];
  /** `link rel=canonical`, as written; empty when there is none. */
  readonly canonical: string;
  /** meta robots (for `robots` or `gossamer`) and X-Robots-Tag together. */
  readonly noindex: boolean;
  readonly nofollow: boolean;
  /** The text a reader sees, whitespace made sane. */
  readonly text: string;
}

/** Links of one page that are looked at; a page with more is read to the end, but the rest are left. */
export const HREFS_PER_PAGE_MAX = 10_000;
