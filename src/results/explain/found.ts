/** What an explanation starts from, and what was looked up for it. */

import type { MemberView } from '../../contract/journal.ts';
import type { LinkView } from '../../contract/views.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { PageRow } from '../../model/page.ts';
import type { Settings } from '../../model/settings.ts';
import type { Address } from '../../url/canonical.ts';
import type { ReasonName } from './reasons.ts';
import type { ScopeAnswer } from './scope-now.ts';

export interface ExplainParts {
  readonly dir: string;
  /** All directories of the crawl that are at hand, where there are more. */
  readonly dirs?: readonly string[];
  /** Members that settled links and whose directories are not at hand. */
  readonly others?: () => Promise<readonly MemberView[]>;
  /** As a person wrote it. */
  readonly url: string;
  readonly settings: Settings;
  readonly crawl: StoredCrawl;
  readonly now: number;
  /** Whether a process has the crawl open. */
  readonly running: boolean;
}

/** What the rules of the URL's own origin say to it. */
export interface RobotsAnswer {
  readonly origin: string;
  readonly allowed: boolean;
  readonly rule: string;
  /** The line of robots.txt that decided; null when none did. */
  readonly line: number | null;
  readonly fetchedAt: number;
  /** The rules are older than a day: they are requested again before the next visit. */
  readonly stale: boolean;
}

/** All that was looked up, and what follows from it. */
export interface Found extends Omit<ExplainParts, 'url'> {
  readonly address: Address;
  readonly origin: string;
  readonly view: LinkView;
  readonly scope: ScopeAnswer | null;
  readonly robots: RobotsAnswer | null;
  /** The last page of its site that failed, where that slows the site down. */
  readonly lastFailure: PageRow | null;
  /** What is known of its origin, if that is in trouble or parked. */
  readonly trouble: RobotsRecord | null;
  readonly reason: ReasonName;
}
