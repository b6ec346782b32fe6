/** Parsing in a simulated process: records of one line, and the links of the model web. */

import type { Link } from '../../src/model/link.ts';
import type { PageRow } from '../../src/model/page.ts';
import { canonicalize } from '../../src/url/canonical.ts';
import { siteOf } from '../../src/url/site.ts';
import type { Parsed, ParseJob } from '../../src/visit/parts.ts';
import type { ModelWeb } from './web.ts';

/** The links of a page as its archived record would give them. */
export const linksOn =
  (web: ModelWeb) =>
  ({ url, outcome, depth }: PageRow): Link[] => {
    const page = web.page(url);
    const isMoved = outcome === 'redirected';
    const hrefs = !page ? [] : isMoved ? [page.target] : outcome === 'fetched' ? (page.hrefs ?? []) : [];
    return hrefs.flatMap((href) => {
      const address = canonicalize(href, url);
      if (typeof address === 'string') return [];
      const found = { url: address.url, site: siteOf(address.host), via: url };
      return [{ ...found, depth: isMoved ? depth : depth + 1, hops: 0, fallback: false, first: isMoved }];
    });
  };

export interface ParseModel {
  work(job: ParseJob): Parsed & { kind: 'parsed' };
  /** Whether it kills whoever parses it. */
  isPoison(job: ParseJob): boolean;
}

export const createParseModel = (web: ModelWeb): ParseModel => ({
  work: ({ robots, page, read, sitemap = false }: ParseJob): Parsed & { kind: 'parsed' } => {
    const lines = robots.map(() => 'robots\n').join('');
    const bytes = new Uint8Array(Buffer.from(`${lines}${page ? `${page.url}\n` : ''}`));
    const found = page && read ? web.page(page.url) : null;
    const isKnown = found !== null && sitemap === (found.kind === 'sitemap');
    const { hrefs = [], sitemaps = [] } = isKnown ? found : {};
    return {
      kind: 'parsed',
      records: { bytes, pageAt: page ? lines.length : -1, pageLength: bytes.length - lines.length },
      findings:
        page && read
          ? {
              title: '',
              language: '',
              charset: '',
              charsetGuessed: false,
              base: page.url,
              hrefs,
              sitemaps,
              canonical: '',
              noindex: false,
              nofollow: false,
              text: '',
            }
          : null,
      digest: '',
      bodyBytes: 0,
      cut: false,
      extracted: '',
      troubles: [],
    };
  },
  isPoison: ({ page, read }: ParseJob): boolean => page !== null && read && web.page(page.url)?.kind === 'poison',
});
