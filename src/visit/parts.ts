/** What a visit works with. Fetching, parsing and time are handed in, so the same code runs in a simulation. */

import type { Clock } from '../lib/clock.ts';
import type { Answered, Exchange } from '../model/exchange.ts';
import type { Findings } from '../model/findings.ts';
import type { HookTrouble } from '../model/hooks.ts';
import type { Link } from '../model/link.ts';
import type { RequestContext, RequestKind, RequestRule } from '../model/request.ts';
import type { RecordGroup, Settlement } from '../model/settlement.ts';
import type { PaceSettings } from '../politeness/pace.ts';
import type { RobotsRules } from '../politeness/robots.ts';
import type { Scope } from '../url/scope.ts';
import type { SiteRules } from '../url/site-rules.ts';
import type { PulseWatch } from './pulse.ts';
import type { Router } from './router.ts';
import type { RulesCache } from './rules-cache.ts';

export interface VisitParts {
  readonly clock: Clock;
  readonly scope: Scope;
  readonly router: Router;
  readonly rules: VisitRules;
  /** Sends one HTTP request. Never rejects for anything that the web does. */
  readonly fetch: FetchPage;
  /** The body of this exchange is done with: its memory is free for others. */
  readonly forget: (exchange: Exchange) => void;
  /** Parses a page and makes the archive records of its visit, here or in another thread. Takes the bodies. */
  readonly parse: (job: ParseJob) => Promise<Parsed>;
  /** What a robots.txt says to us, read here or in another thread; null when it cannot be read. Leaves the body. */
  readonly readRobots: (response: Answered, lease: number) => Promise<RobotsRules | null>;
  /** Where processes share the store: whether it hears this one. */
  readonly pulse?: PulseWatch;
  /** Null where everything linked is wanted. */
  readonly homes: SeedHomes | null;
  /** Long rules, which come with a visit by name only. */
  readonly longRules: RulesCache;
  /** Resolves when the links are in the store. */
  readonly admit: (links: readonly Link[]) => Promise<void>;
  /** Resolves when the settlement is in the store. */
  readonly settle: (settlement: Settlement) => Promise<void>;
}

/** Where seeds are at home, if the crawl stays there. */
export interface SeedHomes {
  /** A seed redirected: it is at home there, too. Resolves when the scope knows. */
  move(from: string, to: string): Promise<void>;
  /** Learns what other threads and members have found. */
  refresh(): Promise<void>;
}

/** How a visit sends a request; the steps that one goes through are in `threads/request-chain.ts`. */
export type FetchPage = (request: PageRequest, signal: AbortSignal) => Promise<Exchange>;

export interface VisitRules {
  readonly pace: PaceSettings;
  readonly productToken: string;
  readonly bodyBytesMax: number;
  /** Whether a body with this Content-Type, from this URL, is downloaded and archived. */
  readonly wantsBody: (contentType: string, url: string) => boolean;
  /** The name of the scope: links that it refuses are kept under it (folder/scope-name.ts). */
  readonly scopeName: string;
  /** Whether sitemaps are read. */
  readonly sitemaps: boolean;
  /** What differs by site. */
  readonly sites?: SiteRules;
  /** The rule for the host of this visit, if it differs from the settings of the crawl; `pace` has its delay. */
  readonly inForce?: RequestRule;
}

export interface PageRequest {
  readonly url: string;
  readonly kind: RequestKind;
  readonly bodyBytesMax: number;
  readonly wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean;
  readonly keepMs: number;
  readonly context: RequestContext;
  /** Asked when the first byte is about to leave: false fails the request as one that was stopped. */
  readonly maySend?: () => boolean;
}

export interface ParseJob {
  /** The lease of the visit: if parsing ends its thread, this is what it died of. */
  readonly lease: number;
  /** The responses to the requests for robots.txt in this visit, for the archive. */
  readonly robots: readonly Answered[];
  readonly page: Answered | null;
  /** Whether links and text are wanted, or the records alone. */
  readonly read: boolean;
  /** Read as a sitemap. */
  readonly sitemap?: boolean;
}

export type Parsed =
  | {
      readonly kind: 'parsed';
      readonly records: RecordGroup | null;
      readonly findings: Findings | null;
      /** The digest of the page's body as it came. */
      readonly digest: string;
      readonly bodyBytes: number;
      /** The body inflated past its ceiling and was read up to there. */
      readonly cut: boolean;
      /** What `extract` of the --hooks module returned, as JSON; empty when nothing. */
      readonly extracted: string;
      readonly troubles: readonly HookTrouble[];
    }
  /** The parsing thread died with this job in it; `culprit` when the job was being worked on. */
  | { readonly kind: 'lost'; readonly culprit: boolean };
