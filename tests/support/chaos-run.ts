/** Runs rows of the failure table, one after the other, each with servers, a small web and members of its own. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { diceFor, mix } from '../../src/world/random.ts';
import { startCluster } from './chaos-cluster.ts';
import { judge, type Verdict } from './chaos-judge.ts';
import type { Network } from './chaos-network.ts';
import { startPostgresPair } from './chaos-postgres.ts';
import { startSentinels, startSingleRedis } from './chaos-redis.ts';
import { ROWS, type RowContext } from './chaos-rows.ts';
import { ALL_MEMBERS, DELAY_MS, Scene, startWeb } from './chaos-scene.ts';
import { pause, type ChaosStore, type StorePlace } from './chaos-store.ts';

export const CHAOS_STORES: Readonly<Record<string, (place: StorePlace) => Promise<ChaosStore>>> = {
  redis: startSingleRedis,
  'redis-cluster': startCluster,
  'redis-sentinel': startSentinels,
  postgres: (place) => startPostgresPair(place),
  'postgres-hosts': (place) => startPostgresPair(place, true),
};

export interface ChaosOptions {
  readonly store: string;
  readonly rows: readonly string[];
  /** How long a crawl takes without a hit; null for what each row has. */
  readonly seconds: number | null;
  readonly seed: number;
  readonly sites: number;
  readonly hits: number;
  /** A folder for what is gone afterwards. */
  readonly home: string;
  /** What rows left behind stays there. */
  readonly keep: boolean;
}

export interface RowResult {
  readonly row: string;
  readonly hits: number;
  readonly seconds: number;
  /** Null when it could not be judged. */
  readonly verdict: Verdict | null;
  readonly violations: readonly string[];
  readonly remarks: readonly string[];
}

const PROGRESS_MS = 2_000;
const LOOK_MS = 250;
/** Beyond twice its time a crawl may wait for a lease, for sites that failed, and for a long hit. */
const MORE_MS_MAX = 240_000;
/** Beyond any hit of a row, for each time that it hits. */
const HIT_MS_MAX = 150_000;

/** Why this row cannot be run here; null when it can. */
export const notHere = (row: string, store: string, network: Network): string | null => {
  const { needs, cuts } = ROWS[row]!;
  if (cuts && network.kind === 'loopback' && !/^(?:redis|postgres|postgres-hosts)$/.test(store))
    return 'it needs network namespaces (root, unshare and ip)';
  const can: Readonly<Record<string, RegExp>> = {
    goBack: /^redis$/,
    reshard: /^redis-cluster$/,
    refuseConnections: /^postgres/,
    refuseWrites: /^(?!redis-sentinel)/,
  };
  return needs && can[needs] && !can[needs].test(store) ? `it says nothing about ${store}` : null;
};

export interface RowRun {
  readonly network: Network;
  readonly options: ChaosOptions;
  /** Takes what is said while the row runs. */
  readonly say: (line: string) => void;
}

export const runRow = async (row: string, { network, options, say }: RowRun): Promise<RowResult> => {
  const began = performance.now();
  const took = (): number => (performance.now() - began) / 1_000;
  const home = join(options.home, row);
  mkdirSync(home, { recursive: true });
  const plan = ROWS[row]!;
  const dice = diceFor(mix(options.seed, Object.keys(ROWS).indexOf(row)));
  const sitePages = Math.max(3, Math.round(((options.seconds ?? plan.seconds) * 1_000) / DELAY_MS));
  const closings: (() => Promise<void> | void)[] = [];
  let doing = 'starts';
  let scene: Scene | null = null;
  let hits = 0;
  const tell = (what: string): void => {
    doing = what;
    say(`${row}: ${took().toFixed(0)} s: ${what}`);
  };
  const ticker = setInterval(() => {
    const now = scene;
    if (now === null) return void say(`${row}: ${took().toFixed(0)} s, ${doing}`);
    now.web.count().then(
      ({ requests, pages }) =>
        say(
          `${row}: ${took().toFixed(0)} s, ${doing}; ${now.up()} members up, ${requests} requests, ` +
            `${pages} of ${now.web.ready.pages.length} pages`,
        ),
      () => {},
    );
  }, PROGRESS_MS);
  try {
    const web = await startWeb([network.webHost, options.sites, sitePages, mix(options.seed, 7)]);
    closings.push(web.close);
    const store = await CHAOS_STORES[options.store]!({ host: network.storeHost, dir: home });
    closings.push(store.remove);
    scene = new Scene({ network, store, web, home, name: 'chaos' });
    closings.push(() => scene!.stop());
    tell('members start');
    await scene.startAll(plan.first ?? ALL_MEMBERS);
    tell('all crawl');
    const context: RowContext = { scene, dice, hits: options.hits, tell };
    let hitting = true;
    const struck = plan.hit(context).finally(() => (hitting = false));
    struck.catch(() => {}); // told below
    const giveUpAt =
      performance.now() +
      2 * sitePages * DELAY_MS +
      MORE_MS_MAX +
      (plan.hit.length > 0 ? options.hits * HIT_MS_MAX : 0);
    while ((hitting || !scene.isOver()) && performance.now() < giveUpAt) {
      await scene.look(!hitting);
      await pause(LOOK_MS);
    }
    await scene.look(false);
    if (hitting) scene.violations.push('the hit did not come to its end');
    else hits = await struck;
    if (!scene.isOver()) scene.violations.push(`the crawl was not finished after ${took().toFixed(0)} s`);
    tell('it is judged');
    await scene.stop();
    const gone = (await plan.after?.(context)) ?? null;
    const verdict = await judge(scene, gone);
    const waited = `the longest time between two visits to a site was ${(verdict.longestWaitMs / 1_000).toFixed(1)} s`;
    const remarks = [...scene.remarks, waited];
    return { row, hits, seconds: took(), verdict, violations: verdict.violations, remarks };
  } catch (error) {
    const violations = [...(scene?.violations ?? []), `the row broke off: ${(error as Error).message}`];
    return { row, hits, seconds: took(), verdict: null, violations, remarks: scene?.remarks ?? [] };
  } finally {
    clearInterval(ticker);
    for (const close of closings.toReversed()) await close();
    if (!options.keep) rmSync(home, { recursive: true, force: true });
  }
};
