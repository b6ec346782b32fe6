/** What a parse thread does with a visit's exchanges: read the page, make its archive records. */

import { payloadDigest, recordGroup } from '../archive/records.ts';
import type { Parsed, ParseJob } from '../visit/parts.ts';
import type { Findings } from '../model/findings.ts';
import type { Settings } from '../model/settings.ts';
import { isText, parsePage } from '../parse/page.ts';
import { parseSitemap } from '../parse/sitemap.ts';
import { toHookPage } from '../hooks/page.ts';
import type { GuardedHooks } from '../hooks/hooks.ts';
import { keptLinksOf } from '../url/page-links.ts';

export type PageWork = (job: ParseJob) => Parsed & { kind: 'parsed' };

/** For unpacking one body that is broken or too large: a thousand times what an ordinary one takes. */
const UNPACK_MS_MAX = 2_000;

export interface PageWorkOptions {
  /** The time in milliseconds. */
  readonly now: () => number;
  readonly settings: Pick<Settings, 'keep' | 'bodyBytesMax'> & Partial<Pick<Settings, 'keepLinks'>>;
  readonly productToken: string;
  /** The id of the warcinfo record that archive records name; none without it. */
  readonly warcinfoId?: string | undefined;
  readonly extract?: GuardedHooks['extract'] | undefined;
}

/** A page that makes the work throw is lost, as one that ends its thread is; the thread is not. */
export const workOrLost = (work: PageWork, job: ParseJob): Parsed => {
  try {
    return work(job);
  } catch {
    return { kind: 'lost', culprit: true };
  }
};

export const createPageWork =
  ({ settings, productToken, warcinfoId, extract, now }: PageWorkOptions): PageWork =>
  ({ robots, page, read, sitemap }) => {
    const begun = now();
    const isLate = (): boolean => now() - begun > UNPACK_MS_MAX;
    let findings: Findings | null = null;
    let cut = false;
    let extracted = '';
    if (page && read && sitemap) {
      ({ findings, cut } = parseSitemap({
        url: page.url,
        headers: page.headers,
        body: page.body,
        productToken,
        whole: page.truncated === null,
        isLate,
      }));
    } else if (page && read) {
      const parsed = parsePage({
        url: page.url,
        headers: page.headers,
        body: page.body,
        textBytesMax: settings.bodyBytesMax,
        productToken,
        text: settings.keep !== 'none' || extract !== undefined,
        isLate,
      });
      ({ findings, cut } = parsed);
      if (extract && isText(page.headers['content-type'] ?? ''))
        extracted = extract(toHookPage({ page, findings, source: parsed.source }));
    }
    const digest = page && page.body.length > 0 ? payloadDigest(page.body) : '';
    const records =
      settings.keep === 'none'
        ? null
        : recordGroup({
            robots,
            page,
            text: findings?.text ?? null,
            keep: settings.keep,
            warcinfoId,
            links: settings.keepLinks && findings ? keptLinksOf(findings) : undefined,
            ...(findings ? { charset: findings.charset } : {}),
            ...(digest ? { digest } : {}),
          });
    // The text is in the archive now; what goes back to the fetch thread does without it.
    return {
      kind: 'parsed',
      records,
      findings: findings && { ...findings, text: '' },
      digest,
      bodyBytes: page?.body.length ?? 0,
      cut,
      extracted,
      troubles: [],
    };
  };
