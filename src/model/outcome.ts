/** What became of a link. Every settled link has exactly one of these names. */

import type { FailureCause } from './failure.ts';

/** Why a link is not wanted; decided by `url/scope.ts`. */
export const SCOPE_REFUSALS = {
  'not-http': 'its scheme is neither http nor https',
  'not-a-url': 'it cannot be read as a URL',
  'too-long': 'it has more than 2,000 characters',
  'too-deep': 'it is further from a seed than --max-depth',
  'out-of-scope': 'it lies outside of the scope of the seeds (--scope)',
  excluded: 'its site or host is in the exclude file, or a pattern of --exclude matches it',
  'not-included': 'no pattern of --include matches it',
  'blocked-port': 'its port is that of another service than the web, such as mail or a database',
  'not-text': 'its ending names a file that is plainly not text, of a kind that --types does not name',
  trap: 'its path repeats itself or is endlessly deep',
  'not-listable': 'a sitemap lists it, but it is of another site, or a sitemap in an index that an index lists',
} as const;

export type ScopeRefusal = keyof typeof SCOPE_REFUSALS;

/** Why a link that is in scope is not stored: what `accept` of the --hooks module said. */
export const HOOK_REFUSALS = {
  hook: 'accept of the --hooks module returned false for it',
  'hook-failed': 'accept of the --hooks module threw, hung, or returned neither true nor false for it',
} as const;

export type HookRefusal = keyof typeof HOOK_REFUSALS;

/** Links that were found and not stored, by reason. */
export type Refused = Readonly<Partial<Record<ScopeRefusal | HookRefusal, number>>>;

const ANSWERED = {
  fetched: 'answered with a success; text, if it is text, was parsed',
  redirected: 'answered with a redirect, whose target became a link of its own',
  'redirect-loop': 'answered with one redirect too many in a row, or one that leads nowhere',
  'client-error': 'answered with a 4xx status',
  'server-error': 'answered with a 5xx status on its last try',
  'odd-status': 'answered with a status that means nothing here',
  'body-skipped': 'answered with a type that --types does not name; only its head was kept',
} as const;

const UNANSWERED = {
  'robots-denied': 'robots.txt forbids it',
  'robots-too-large': 'the rules for us in robots.txt are over the ceiling, which forbids the origin',
  'parse-failed': 'parsing it took too long or ended its thread, on its last try',
  'gave-up': 'the crawl died too often while it was being visited',
} as const;

type FailedName = `failed-${FailureCause}`;

export type AnsweredName = keyof typeof ANSWERED;
export type OutcomeName = AnsweredName | keyof typeof UNANSWERED | ScopeRefusal | FailedName;

/** All outcomes that a response led to: these are the pages that `--max-pages` counts. */
export const ANSWERED_OUTCOMES: Readonly<Record<AnsweredName, string>> = ANSWERED;
export const UNANSWERED_OUTCOMES: Readonly<Record<keyof typeof UNANSWERED, string>> = UNANSWERED;

export const failedName = (cause: FailureCause): FailedName => `failed-${cause}`;
