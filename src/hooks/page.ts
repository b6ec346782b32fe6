/** A page as `extract` of a hooks module sees it: all of it is a copy, or cannot be changed. */

import type { Answered } from '../model/exchange.ts';
import type { Findings } from '../model/findings.ts';
import type { HookPage } from '../model/hooks.ts';
import { linksOf } from '../url/page-links.ts';

export interface ReadResponse {
  readonly page: Answered;
  readonly findings: Findings;
  /** The body of the page as text. */
  readonly source: string;
}

export const toHookPage = ({ page, findings, source }: ReadResponse): HookPage => {
  let links: readonly string[] | null = null;
  return {
    url: page.url,
    status: page.status,
    headers: { ...page.headers },
    contentType: page.headers['content-type'] ?? '',
    title: findings.title,
    language: findings.language,
    text: findings.text,
    html: source,
    // Made when they are asked for: a page may have thousands, and most hooks want none.
    get links() {
      return (links ??= linksOf(findings));
    },
  };
};
