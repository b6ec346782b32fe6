/** Was a page allowed, by the robots.txt that was in force for its origin? */

import { ROBOTS_TTL_MS } from '../../model/robots.ts';
import { robotsDecision, robotsVerdict } from '../../politeness/robots.ts';
import { canonicalize } from '../../url/canonical.ts';
import { recordOf, type ArchivedRobots } from './archived-robots.ts';
import type { AuditedRequest } from './requests.ts';
import { leaveUnchecked, violate, type Findings, type UncheckedReason } from './findings.ts';
import { timeOf } from './words.ts';

/** The robots.txt files of a site's origins, as the requests of the site go by. */
export interface RobotsHistory {
  readonly archived: Map<string, ArchivedRobots[]>;
  /** The last request for a robots.txt that brought rules, by origin, and what it brought if that is archived. */
  readonly asked: Map<string, { readonly at: number; readonly brought: ArchivedRobots | null }>;
}

export const noHistory = (): RobotsHistory => ({ archived: new Map(), asked: new Map() });

export const keepArchived = ({ archived }: RobotsHistory, robots: ArchivedRobots): void => {
  const known = archived.get(robots.origin);
  if (known) known.push(robots);
  else archived.set(robots.origin, [robots]);
};

const archivedFor = ({ archived }: RobotsHistory, origin: string, token: string): ArchivedRobots[] =>
  (archived.get(origin) ?? []).filter((one) => one.token === token);

/** A request for robots.txt went by. Where it was in trouble, what was known before stays in force. */
export const noteAsked = (robotsHistory: RobotsHistory, request: AuditedRequest): void => {
  const status = Number(request.result);
  if (!(status > 0) || robotsVerdict(status) === 'trouble') return;
  const origin = originOf(request);
  const same = archivedFor(robotsHistory, origin, request.settings.productToken).filter(
    ({ askedAt }) => askedAt === request.at,
  );
  robotsHistory.asked.set(origin, { at: request.at, brought: same[0] ?? null });
};

export const originOf = ({ url }: Pick<AuditedRequest, 'url'>): string => {
  const address = canonicalize(url);
  return typeof address === 'string' ? '' : address.origin;
};

/** Why no robots.txt may be known here though one was read; null when there is no such reason. */
export type Excuse = UncheckedReason | null;

/**
 * Rules are a day old at the most when a visit looks at them; after that its request may wait for a name server and a
 * socket, and they count from the end of their own request.
 */
const oldestFor = ({ at, settings }: AuditedRequest): number => at - ROBOTS_TTL_MS - 2 * settings.timeoutMs - 1_000;

export const judgeRobots = (
  robotsHistory: RobotsHistory,
  request: AuditedRequest,
  { findings, excuse }: { findings: Findings; excuse: Excuse },
): void => {
  const address = canonicalize(request.url);
  if (typeof address === 'string') return;
  const { origin, path } = address;
  const oldest = oldestFor(request);
  const asked = robotsHistory.asked.get(origin);
  const known = archivedFor(robotsHistory, origin, request.settings.productToken);
  const before = known.filter(({ at }) => at <= request.at);
  const newest = Math.max(asked?.at ?? -Infinity, ...before.map(({ at }) => at));
  if (newest < oldest) {
    if (excuse) return leaveUnchecked(findings, excuse);
    if (newest === -Infinity)
      return violate(findings, {
        kind: 'no-robots',
        request,
        says: `${request.url} was requested at ${timeOf(request.at)}, and no robots.txt of ${origin} had been read before`,
      });
    return violate(findings, {
      kind: 'stale-robots',
      request,
      says: `${request.url} was requested at ${timeOf(request.at)}, and the robots.txt of ${origin} had last been read at ${timeOf(newest)}, more than 24 hours before`,
    });
  }
  const fits = ({ digest }: ArchivedRobots): boolean => digest === request.rules;
  const fresh = before.filter(({ at }) => at >= oldest).findLast(fits);
  // Whoever is not given, or noted nothing, may have read another robots.txt since.
  if (!fresh && asked?.brought && !excuse)
    return violate(findings, {
      kind: 'wrong-rules',
      request,
      says: `${request.url} was requested at ${timeOf(request.at)} under rules with the digest "${request.rules}", and the robots.txt of ${origin} read at ${timeOf(asked.at)} has "${asked.brought.digest}"`,
    });
  // Its own robots.txt was lost with a killed visit: the one that the repeated visit read says the same, or nobody can
  // tell.
  const matched = fresh ?? known.find((one) => one.at > request.at && fits(one));
  if (!matched)
    return leaveUnchecked(findings, request.settings.keep === 'none' ? 'nothing-archived' : (excuse ?? 'not-archived'));
  const { allowed, rule } = robotsDecision(recordOf(matched), path);
  if (!allowed)
    violate(findings, {
      kind: 'forbidden',
      request,
      says: `${request.url} was requested at ${timeOf(request.at)}, and the robots.txt of ${origin} forbids it (${rule})`,
    });
};
