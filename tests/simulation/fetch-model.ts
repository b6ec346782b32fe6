/** One request to the model web: latency instead of sockets, exchanges as the real fetcher gives them. */

import type { PageRequest } from '../../src/visit/parts.ts';
import type { Answered, Exchange } from '../../src/model/exchange.ts';
import type { FailureCause } from '../../src/model/failure.ts';
import type { Means } from '../../src/visit/reach.ts';
import { mix } from '../../src/world/random.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { INDEX_PATH, type ModelWeb } from './web.ts';
import type { Witness } from './witness.ts';

export interface FetchModel {
  /** Each request under way is in `open`, with what to do when its process dies: its connections close then. */
  readonly fetch: (request: PageRequest, signal: AbortSignal, open: Set<() => void>) => Promise<Exchange>;
  /** From now on requests to this share of the sites never end by themselves (0 to 1). */
  hangShare: number;
  /** From now on this machine finds no names, or makes no connection, until that moment. */
  cut: { readonly means: Means; readonly until: number } | null;
  /** Whether an origin that answered before can be reached. */
  readonly ask: (origin: string, means: Means) => Promise<boolean>;
  /** When a name was found last. */
  readonly namedAt: () => number;
  /** Whether a robots.txt is being fetched: its page follows at once. */
  isAskingRobots(): boolean;
}

/** The longest that one request takes, as with --timeout. */
const TIMEOUT_MS = 30_000;
/** How long a request takes to fail when this machine is cut off, and to ask whether it still is. */
const CUT_MS = 800;
const ASK_MS = 50;
const RETRY_AFTER_S = 120;
const FLAKY_PERCENT = 20;
/** An origin that flaps is down for the first of so many minutes. */
const FLAP_MS = 60_000;
const FLAP_EVERY = 5;

export const createFetchModel = (web: ModelWeb, clock: VirtualClock, witness: Witness): FetchModel => {
  /** How often a page was requested: the only state, and only for pages that need it. */
  const asked = new Map<string, number>();
  let requests = 0;
  let robotsRequests = 0;
  let namedAt = -Infinity;
  const isCut = (means: Means): boolean =>
    model.cut !== null && model.cut.means === means && clock.now() < model.cut.until;

  const model: FetchModel = {
    hangShare: 0,
    cut: null,
    ask: async (origin, means) => {
      await clock.sleep(ASK_MS);
      const { health } = web.siteNamed(new URL(origin).hostname);
      return !isCut(means) && health !== 'dead' && web.originHealth(origin) !== 'gone';
    },
    namedAt: () => namedAt,
    isAskingRobots: () => robotsRequests > 0,
    fetch: async ({ url, maySend }, signal, open) => {
      const startedAt = clock.now();
      const failed = (cause: FailureCause, left: boolean, unsure = false): Exchange => ({
        kind: 'failed',
        url,
        startedAt: left ? startedAt : null,
        endedAt: clock.now(),
        cause,
        unsure,
        detail: 'model',
      });
      if (signal.aborted || maySend?.() === false) return failed('aborted', false, true);
      const site = web.siteNamed(new URL(url).hostname);
      const health = web.originHealth(url);
      if (site.health === 'dead' || health === 'gone') {
        await clock.sleep(site.latencyMs, signal);
        return signal.aborted ? failed('aborted', false, true) : failed(health === 'gone' ? 'no-name' : 'dns', false);
      }
      // A name server that is broken says of every name that there is none, or says nothing.
      if (isCut('names')) {
        witness.missed(site.name);
        await clock.sleep(CUT_MS, signal);
        return signal.aborted
          ? failed('aborted', false, true)
          : failed(mix(requests++, 5) % 2 ? 'no-name' : 'dns', false);
      }
      namedAt = startedAt;
      if (isCut('connections')) {
        witness.missed(site.name);
        await clock.sleep(CUT_MS, signal);
        return signal.aborted ? failed('aborted', false, true) : failed('connect-timeout', false);
      }
      const seen = witness.arrives({ site: site.name, url, at: startedAt });
      const drop = (): void => seen.dropped(clock.now());
      open.add(drop);
      const n = requests++;
      const hangs = web.page(url)?.kind === 'hangs' || mix(site.index, 77) % 1_000 < model.hangShare * 1_000;
      const isRobots = url.endsWith('/robots.txt');
      if (isRobots) robotsRequests++;
      await clock.sleep(hangs ? TIMEOUT_MS : site.latencyMs, signal);
      if (isRobots) robotsRequests--;
      open.delete(drop);
      if (signal.aborted) {
        seen.dropped(clock.now());
        return failed('aborted', true, true);
      }
      if (health === 'down' || (health === 'flapping' && Math.floor(startedAt / FLAP_MS) % FLAP_EVERY === 0)) {
        seen.dropped(clock.now());
        return failed('refused', true);
      }
      if (hangs) {
        seen.dropped(clock.now());
        return failed('response-timeout', true);
      }
      if (site.health === 'flaky' && mix(n, web.plan.seed) % 100 < FLAKY_PERCENT) {
        seen.dropped(clock.now());
        return failed('reset', true);
      }
      const response = responseTo(url, asked);
      const now = clock.now();
      seen.answered(now, {
        responseMs: now - startedAt,
        retryAfterMs: Number(response.headers['retry-after'] ?? 0) * 1_000,
        robotsKnown: response.status < 500,
      });
      return { ...response, startedAt, answeredAt: now, endedAt: now };
    },
  };

  const responseTo = (url: string, counts: Map<string, number>): Answered => {
    const respond = (status: number, headers: Record<string, string> = {}): Answered => ({
      kind: 'answered',
      url,
      startedAt: 0,
      answeredAt: 0,
      endedAt: 0,
      address: '192.0.2.1',
      requestHead: '',
      head: '',
      status,
      headers: { 'content-type': 'text/html', ...headers },
      body: new Uint8Array(0),
      truncated: null,
    });
    if (url.endsWith('/robots.txt')) {
      const site = web.siteNamed(new URL(url).hostname);
      if (site.health === 'robots-500' || web.originHealth(url) === 'robots-500') return respond(503);
      return respond(site.robots ? 200 : 404);
    }
    const page = web.page(url);
    switch (page?.kind) {
      case undefined:
      case 'missing':
        return respond(404);
      case 'broken':
        return respond(500);
      case 'redirect':
        return respond(302, { location: page!.target });
      case 'busy-once': {
        const n = (counts.get(url) ?? 0) + 1;
        counts.set(url, n);
        return n === 1 ? respond(503, { 'retry-after': String(RETRY_AFTER_S) }) : respond(200);
      }
      default:
        return respond(200);
    }
  };

  return model;
};

/** Every third site has rules so long that visits have them by name; the one that counts is the last of them. */
const othersBefore = (hostname: string): string =>
  Number(/\d+/.exec(hostname)?.[0]) % 3 !== 0
    ? ''
    : Array.from({ length: 200 }, (_, i) => `Disallow: /${hostname}/nobody/links/here/${i}\n`).join('');

/** What robots.txt of the model web says. */
export const robotsText = (web: ModelWeb, url: string): string => {
  const { hostname } = new URL(url);
  const { robots } = web.siteNamed(hostname);
  return `User-agent: *\n${othersBefore(hostname)}Disallow: /private/\n${robots && robots.crawlDelayMs > 0 ? `Crawl-delay: ${robots.crawlDelayMs / 1_000}\n` : ''}${web.plan.sitemaps ? `Sitemap: /${INDEX_PATH}\n` : ''}`;
};
