/** Requests the robots.txt of an origin, following redirects at once (RFC 9309, 2.3.1). */

import type { Answered, Exchange, Failed } from '../model/exchange.ts';
import type { RequestContext } from '../model/request.ts';
import { ROBOTS_BYTES_MAX, ROBOTS_REDIRECTS_MAX, ROBOTS_TTL_MS, type RobotsRecord } from '../model/robots.ts';
import { robotsVerdict } from '../politeness/robots.ts';
import { canonicalize } from '../url/canonical.ts';
import { readLocation } from '../url/location.ts';
import type { VisitParts } from './parts.ts';

/** The page is requested next on the same connection, so it is kept for that long. */
const KEEP_FOR_PAGE_MS = 10_000;

export type RobotsResult =
  | {
      readonly kind: 'known';
      readonly record: RobotsRecord;
      readonly responses: readonly Answered[];
      readonly sitemaps: readonly string[];
    }
  /** The site answered 5xx or not at all: nothing is allowed, and nothing is forbidden for good. */
  | { readonly kind: 'trouble'; readonly last: Exchange; readonly responses: readonly Answered[] };

export interface RobotsRequest {
  readonly origin: string;
  readonly context: RequestContext;
}

export const requestRobots = async (
  parts: VisitParts,
  { origin, context }: RobotsRequest,
  signal: AbortSignal,
): Promise<RobotsResult> => {
  const responses: Answered[] = [];
  const known = (
    verdict: Pick<RobotsRecord, 'verdict' | 'rules' | 'crawlDelayMs'>,
    sitemaps: readonly string[] = [],
  ): RobotsResult => {
    const fetchedAt = Math.floor(parts.clock.now());
    return {
      kind: 'known',
      record: { origin, fetchedAt, expiresAt: fetchedAt + ROBOTS_TTL_MS, failures: 0, ...verdict },
      responses,
      sitemaps,
    };
  };
  const allowAll = (): RobotsResult => known({ verdict: 'all', rules: '', crawlDelayMs: null });

  let url = `${origin}/robots.txt`;
  for (let redirects = 0; redirects <= ROBOTS_REDIRECTS_MAX; redirects++) {
    const exchange = await parts.fetch(
      {
        url,
        kind: 'robots',
        bodyBytesMax: ROBOTS_BYTES_MAX,
        wantsBody: isRead,
        keepMs: KEEP_FOR_PAGE_MS,
        context: { ...context, redirected: redirects > 0 },
      },
      signal,
    );
    if (exchange.kind === 'failed') return { kind: 'trouble', last: exchange, responses };
    responses.push(exchange);
    switch (robotsVerdict(exchange.status)) {
      case 'trouble':
        return { kind: 'trouble', last: exchange, responses };
      case 'allow':
        return allowAll();
      case 'read': {
        const read = await parts.readRobots(exchange, context.lease);
        if (read === null) return { kind: 'trouble', last: exchange, responses };
        const { sitemaps, ...verdict } = read;
        return known(verdict, sitemaps);
      }
      case 'follow': {
        const target = canonicalize(readLocation(exchange.headers.location ?? ''), url);
        if (typeof target === 'string') return allowAll(); // leads nowhere: as if there were none
        url = target.url;
        break;
      }
    }
  }
  return allowAll(); // RFC 9309, 2.3.1.2: more than five redirects may be taken as none
};

const isRead = (status: number): boolean => robotsVerdict(status) === 'read';

export const isUnreachable = (exchange: Exchange): exchange is Failed =>
  exchange.kind === 'failed' && !exchange.unsure && exchange.cause !== 'address';
