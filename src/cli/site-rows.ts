/** Sites as they are listed: each with what robots.txt says of the origin that is visited next. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import type { SiteQuery, SiteView } from '../contract/views.ts';
import { isInTrouble } from '../model/robots.ts';
import { robotsStance } from '../politeness/robots.ts';
import { canonicalize } from '../url/canonical.ts';

/**
 * Sites whose rules are asked for in one go: a far store is asked once for all of them. With the largest rules, 7 MiB.
 */
export const RULES_AT_ONCE = 100;

/** A site with what robots.txt says at the origin that is visited next. */
export interface SiteRow {
  readonly view: SiteView;
  readonly now: number;
  readonly robots: {
    readonly origin: string;
    readonly state: ReturnType<typeof robotsStance> | 'not-read-yet';
    readonly fetchedAt: number | null;
    /** Older than a day, or unreadable: it is asked for again before the next visit. */
    readonly stale: boolean;
    /** Why it is unreadable: the status of the response, or why there was none. */
    readonly trouble: string | null;
  } | null;
}

export async function* siteRows(crawl: StoredCrawl, query: SiteQuery): AsyncGenerator<SiteRow, void, undefined> {
  let views: SiteView[] = [];
  for await (const view of crawl.sites(query)) {
    if (views.push(view) < RULES_AT_ONCE) continue;
    yield* await withRules(crawl, views);
    views = [];
  }
  yield* await withRules(crawl, views);
}

const withRules = async (crawl: StoredCrawl, views: readonly SiteView[]): Promise<SiteRow[]> => {
  const now = Date.now();
  const origins = views.map(({ next }) => {
    const address = canonicalize(next);
    return typeof address === 'string' ? null : address.origin;
  });
  const asked = [...new Set(origins.filter((origin) => origin !== null))];
  const records = asked.length === 0 ? [] : await crawl.robots(asked);
  const rules = new Map(asked.map((origin, i) => [origin, records[i]]));
  return views.map((view, i) => {
    const origin = origins[i]!;
    if (origin === null) return { view, now, robots: null };
    const record = rules.get(origin);
    if (!record)
      return { view, now, robots: { origin, state: 'not-read-yet', fetchedAt: null, stale: false, trouble: null } };
    const trouble = isInTrouble(record) ? record.rules : null;
    return {
      view,
      now,
      robots: {
        origin,
        state: robotsStance(record),
        fetchedAt: record.fetchedAt,
        stale: record.expiresAt <= now,
        trouble,
      },
    };
  });
};
