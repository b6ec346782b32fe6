/** Pages and sites as the objects that `--json` prints. */

import type { SiteView } from '../contract/views.ts';
import type { PageRow } from '../model/page.ts';
import { PAGE_TABLE } from '../results/export/columns.ts';
import { jsonLines } from '../results/export/text.ts';

/** A moment as programs read it. */
export const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** A page with the columns of an export. */
export const pageObject = (page: PageRow): object => JSON.parse(jsonLines.line(PAGE_TABLE, page)) as object;

/** A site, or an origin in trouble, with what waits there. */
export const siteObject = ({ dueAt, next: _, leased, ...site }: SiteView): Record<string, unknown> => ({
  ...site,
  dueAt: timeOf(dueAt),
  leased: leased || null,
});
