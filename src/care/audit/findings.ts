/** What an audit finds: violations by name, and what could not be checked, with the reason. */

import type { AuditedRequest } from './requests.ts';

export const VIOLATIONS = {
  gap: 'two visits to a site began closer to each other than its delay',
  overlap: 'a visit began before the one before it had ended',
  'twice-in-visit': 'one visit requested more than one page',
  'wrong-site': 'a request was counted for another site than that of its URL',
  'no-robots': 'a page was requested before any robots.txt of its origin had been read',
  'stale-robots': 'a page was requested under a robots.txt that was more than 24 hours old',
  forbidden: 'a page was requested that robots.txt forbids',
  'wrong-rules': 'a page was requested under other rules than those of the robots.txt in force',
} as const;

export type ViolationKind = keyof typeof VIOLATIONS;

export interface Violation {
  readonly kind: ViolationKind;
  readonly site: string;
  /** One sentence, with times and what was required. */
  readonly says: string;
  /** The request, and for a gap or an overlap the one before it. */
  readonly request: RequestSeen;
  readonly before: RequestSeen | null;
  readonly requiredMs: number | null;
}

export type RequestSeen = Pick<AuditedRequest, 'at' | 'endedAt' | 'kind' | 'url' | 'result'>;

export const UNCHECKED = {
  'nothing-archived':
    'nothing was archived in that run (--keep none): the robots decisions cannot be checked, the gaps are',
  'not-archived':
    'the robots.txt that allowed it is not in the archive: that visit is still under way, or the crawl was killed before it was settled, and no later visit read the same',
  'ledger-was-off': 'its robots.txt may have been read while the ledger was off',
  'other-member':
    'its robots.txt may have been read by a member of the crawl that is not given: give the directories of all',
  'archive-damaged': 'its robots.txt may be in a part of the archive that cannot be read',
} as const;

export type UncheckedReason = keyof typeof UNCHECKED;

/** Violations that are named one by one; all are counted. */
export const VIOLATIONS_NAMED_MAX = 1_000;

/** Requests whose robots decision nobody can judge from what is at hand. */
export const uncheckedTotal = ({ unchecked }: Pick<Findings, 'unchecked'>): number =>
  Object.values(unchecked).reduce((sum, n) => sum + n, 0);

export interface Findings {
  readonly violations: Violation[];
  count: number;
  readonly byKind: Partial<Record<ViolationKind, number>>;
  readonly unchecked: Partial<Record<UncheckedReason, number>>;
}

export const noFindings = (): Findings => ({ violations: [], count: 0, byKind: {}, unchecked: {} });

export interface Found {
  readonly kind: ViolationKind;
  readonly request: AuditedRequest;
  readonly says: string;
  readonly before?: AuditedRequest;
  readonly requiredMs?: number;
}

export const violate = (findings: Findings, { kind, request, says, before, requiredMs }: Found): void => {
  findings.count++;
  findings.byKind[kind] = (findings.byKind[kind] ?? 0) + 1;
  if (findings.violations.length >= VIOLATIONS_NAMED_MAX) return;
  findings.violations.push({
    kind,
    site: request.site,
    says,
    request: seen(request),
    before: before ? seen(before) : null,
    requiredMs: requiredMs ?? null,
  });
};

const seen = ({ at, endedAt, kind, url, result }: AuditedRequest): RequestSeen => ({ at, endedAt, kind, url, result });

export const leaveUnchecked = ({ unchecked }: Findings, reason: UncheckedReason): void =>
  void (unchecked[reason] = (unchecked[reason] ?? 0) + 1);
