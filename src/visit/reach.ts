/**
 * Is it them or us? When names or connections fail and none has worked meanwhile, origins that answered earlier in this
 * crawl are asked. If they fail too, it is this machine that is cut off: nothing is visited until one of them can be
 * reached again, and no failure of that time counts against anybody.
 *
 * To ask is to look up a name, or to open a connection, and no more: no request is sent outside of a site's pace.
 */

import type { Clock } from '../lib/clock.ts';
import { createGate } from '../lib/gate.ts';
import type { Exchange, Failed } from '../model/exchange.ts';
import type { FailureCause } from '../model/failure.ts';
import { siteOf } from '../url/site.ts';

/** With fewer sites that answered, nobody can tell: a crawl of one site ends when that is gone. */
const SITES_LEAST = 3;
/** Sites remembered, one origin each; the one that answered last is the youngest. */
const SITES_MAX = 64;
const REMEMBER_MS = 500;
/** How many are asked at a time, one time after the other, until one can be reached. */
const ASKED = [1, 2, 3];
/** A connection that worked so shortly before speaks for this machine: where only dead sites are left, many fail. */
const BELIEVED_MS = 2_000;
/** How often is asked whether this machine is back. */
const AGAIN_MS = 5_000;

/** What a machine may be cut off from. */
export type Means = 'names' | 'connections';

/** A failure in TLS or in HTTP comes from a server that was reached. */
const MEANS: Readonly<Partial<Record<FailureCause, Means>>> = {
  'no-name': 'names',
  dns: 'names',
  refused: 'connections',
  'connect-timeout': 'connections',
  'response-timeout': 'connections',
  timeout: 'connections',
};

export interface ReachParts {
  readonly clock: Clock;
  /** Whether the name of this origin is found afresh, or a connection to it can be made. */
  readonly ask: (origin: string, means: Means) => Promise<boolean>;
  /** When a name was last found that was not remembered. */
  readonly namedAt: () => number;
  /** Told when this machine is cut off, and for how long it was when it is back. */
  readonly onCut: (means: Means) => void;
  readonly onBack: (means: Means, cutMs: number) => void;
  /** Origins that are known to have answered. */
  readonly answered?: readonly string[];
  /** Told of the first of them, for whoever takes this one's place. */
  readonly onKnown?: (origin: string) => void;
}

export interface Reach {
  /** Looks at what came of a request: a failure that says nothing about its site becomes `unsure`. */
  judge(exchange: Exchange): Promise<Exchange>;
  /** Resolves when visits make sense: at once, unless this machine is cut off. */
  passable(stop: AbortSignal): Promise<void>;
}

export const createReach = (parts: ReachParts): Reach => {
  const { clock, ask } = parts;
  /** By site; in the order in which they answered, the last at the end. */
  const origins = new Map<string, string>();
  const told = new Set<string>();
  const back = createGate();
  const askedWell: Record<Means, number> = { names: -Infinity, connections: -Infinity };
  const asking: Partial<Record<Means, Promise<boolean>>> = {};
  const cut = new Set<Means>();
  let answeredAt = -Infinity;
  let rememberAt = -Infinity;
  let turn = 0;

  const remember = (origin: string): void => {
    const site = siteOf(new URL(origin).hostname);
    if (!origins.delete(site) && origins.size < SITES_MAX && !told.has(site)) {
      told.add(site);
      parts.onKnown?.(origin);
    }
    origins.set(site, origin);
    if (origins.size > SITES_MAX) origins.delete(origins.keys().next().value!);
  };
  parts.answered?.forEach(remember);

  /** When it was last seen to work. */
  const workedAt = (means: Means): number =>
    Math.max(askedWell[means], means === 'names' ? parts.namedAt() : answeredAt);

  /** Each time others, so that nobody is asked often. */
  const nextOrigins = (count: number): string[] => {
    const all = [...origins.values()];
    const some = Array.from({ length: Math.min(count, all.length) }, (_, i) => all[(turn + i) % all.length]!);
    turn += count;
    return some;
  };

  const works = async (means: Means): Promise<boolean> => {
    const since = clock.now();
    for (const count of ASKED) {
      const reached = await Promise.all(nextOrigins(count).map((origin) => ask(origin, means)));
      if (reached.includes(true)) askedWell[means] = clock.now();
      if (reached.includes(true) || workedAt(means) > since) return true;
    }
    return false;
  };
  const askOnce = (means: Means): Promise<boolean> =>
    (asking[means] ??= works(means).finally(() => delete asking[means]));

  const waitUntilBack = async (means: Means): Promise<void> => {
    const since = clock.now();
    cut.add(means);
    parts.onCut(means);
    while (workedAt(means) <= since) {
      await clock.sleep(AGAIN_MS);
      if (workedAt(means) <= since) await askOnce(means);
    }
    cut.delete(means);
    parts.onBack(means, clock.now() - since);
    if (cut.size === 0) back.open();
  };

  const isOurs = async (means: Means, { url, cause, endedAt, times }: Failed): Promise<boolean> => {
    if (cut.has(means)) return true;
    if (origins.size < SITES_LEAST) return false;
    // A name that does not exist parks its origin at once, so it is not enough that names were found before.
    const isFinal = cause === 'no-name';
    if (!isFinal && workedAt(means) >= endedAt - (times?.totalMs ?? 0)) return false;
    if (means === 'connections' && clock.now() - answeredAt < BELIEVED_MS) return false;
    if (await askOnce(means)) {
      if (!isFinal) return false;
      // It is missing still, while others are found before and after: so it does not exist.
      if (await ask(new URL(url).origin, means)) return true;
      if (await askOnce(means)) return false;
    }
    if (!cut.has(means)) void waitUntilBack(means);
    return true;
  };

  return {
    judge: async (exchange) => {
      if (exchange.kind === 'answered') {
        answeredAt = clock.now();
        // Once enough are known, a fresh one now and then will do: this is done for every response.
        if (origins.size < SITES_MAX || answeredAt >= rememberAt) {
          rememberAt = answeredAt + REMEMBER_MS;
          remember(new URL(exchange.url).origin);
        }
        return exchange;
      }
      const means = MEANS[exchange.cause];
      if (exchange.unsure || means === undefined) return exchange;
      return (await isOurs(means, exchange)) ? { ...exchange, unsure: true } : exchange;
    },
    passable: async (stop) => {
      while (cut.size > 0 && !stop.aborted) await Promise.race([back.passed(), clock.sleep(AGAIN_MS, stop)]);
    },
  };
};
