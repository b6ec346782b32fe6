/**
 * The small web of a chaos row, in a process of its own: nothing that the row does holds its clock up.
 *
 * `chaos-web.ts HOST SITES SITE_PAGES SEED`; it sends `WebReady`, and then an answer to every `WebAsk`.
 */

import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { WorldPlan } from '../../src/world/plan.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { converse } from '../../src/world/converse.ts';
import { diceFor } from '../../src/world/random.ts';
import { responseOf } from '../../src/world/sheet.ts';
import { createWorld } from '../../src/world/world.ts';

/** One request as the web read it, on the web's own clock. */
export interface Hit {
  readonly at: number;
  /** When its response was sent, or the client had gone; null while it is under way. */
  endedAt: number | null;
  readonly site: string;
  readonly url: string;
  readonly robots: boolean;
  /** The address that it came from. */
  readonly from: string;
  /** A proper response was sent whole. */
  whole: boolean;
}

export interface WebReady {
  readonly port: number;
  readonly seeds: readonly string[];
  /** Every page that a right crawl fetches. */
  readonly pages: readonly string[];
}

export interface WebCount {
  /** The web's clock. */
  readonly now: number;
  readonly requests: number;
  /** Distinct pages that were answered whole. */
  readonly pages: number;
  /** Requests by the address they came from. */
  readonly from: Readonly<Record<string, number>>;
}

export type WebAsk = 'count' | 'log';

/** Below a tenth of the delay: hits meet visits under way, and no delay is lengthened by it. */
const LATENCY_MS_MAX = 360;
const LATENCY_MS_MIN = 40;
/** Bounds the record. */
const REQUESTS_MAX = 500_000;
const PAGE_BYTES = 2_000;
const BACKLOG = 1_024;

/** Every site has the same number of pages: all of them are under way to the end. */
export const chaosPlan = (sites: number, sitePages: number, seed: number): WorldPlan => ({
  ...tinyPlan,
  seed,
  sites,
  pages: sites * sitePages,
  sitePagesMax: sitePages,
  pageBytes: PAGE_BYTES,
  oddities: false,
  https: false,
  slowMs: LATENCY_MS_MAX,
});

const serve = async (host: string, plan: WorldPlan): Promise<void> => {
  const world = createWorld(plan);
  const hits: Hit[] = [];
  const pages = new Set<string>();
  const from: Record<string, number> = {};
  const dice = diceFor(plan.seed);

  const speak = (socket: Socket): void => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    converse(socket, {
      scheme: 'http',
      // Every connection has its own, so that sites which began together are soon spread over the whole delay.
      slowMs: LATENCY_MS_MIN + dice(LATENCY_MS_MAX - LATENCY_MS_MIN),
      note: ({ host: name, path }) => {
        const url = `http://${name}${path}`;
        const hit: Hit = {
          at: performance.now(),
          endedAt: null,
          site: world.siteOf(name)?.name ?? name,
          url,
          robots: path === '/robots.txt',
          from: address,
          whole: false,
        };
        if (hits.length < REQUESTS_MAX) hits.push(hit);
        from[address] = (from[address] ?? 0) + 1;
        return {
          ended: ({ whole, at }) => {
            hit.endedAt = at;
            hit.whole = whole;
            if (whole && !hit.robots) pages.add(url);
          },
        };
      },
      reply: (request) => {
        const response = responseOf(world.look(request));
        return { response: { ...response, delivery: 'slow' }, proper: response.status === 200 };
      },
    });
  };
  const server = createServer(speak);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host, backlog: BACKLOG }, resolve);
  });
  const count = (): WebCount => ({ now: performance.now(), requests: hits.length, pages: pages.size, from });
  const answers = { count, log: () => hits };
  process.on('message', (ask: WebAsk) => void process.send!(answers[ask]()));
  process.on('disconnect', () => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {}); // its parent decides
  const ready: WebReady = {
    port: (server.address() as AddressInfo).port,
    seeds: world.seeds(),
    pages: [...world.reachable().pages],
  };
  process.send!(ready);
};

if (process.send !== undefined && import.meta.main) {
  const [host = '127.0.0.1', sites, sitePages, seed] = process.argv.slice(2);
  await serve(host, chaosPlan(Number(sites), Number(sitePages), Number(seed)));
}
