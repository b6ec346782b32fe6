/** What an explanation starts from, and what was looked up for it. */

import type { LinkView, Reader } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import type { Settings } from '../../model/settings.ts';
import type { Address } from '../../url/canonical.ts';
import type { ReasonName } from './reasons.ts';
import type { ScopeAnswer } from './scope-now.ts';

export interface ExplainParts {
  readonly dir: string;
  /** As a person wrote it. */
  readonly url: string;
  readonly settings: Settings;
  readonly reader: Reader;
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
  /** Older than a day: asked for again before the next visit. */
  readonly stale: boolean;
}

/** All that was looked up, and what follows from it. */
export interface Found extends Omit<ExplainParts, 'url'> {
  readonly address: Address;
  readonly origin: string;
  readonly view: LinkView;
  readonly scope: ScopeAnswer | null;
  readonly robots: RobotsAnswer | null;
  /** What tells of the trouble of a site that is in trouble or parked. */
  readonly lastFailure: PlacedPage | null;
  /**
   * The same when a robots.txt of the site could not be read: its own, or the one that the site's next call asks for.
   */
  readonly unread: RobotsRecord | null;
  readonly reason: ReasonName;
}
