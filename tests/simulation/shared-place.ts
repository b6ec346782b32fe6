/** A real Redis or PostgreSQL for simulated crawls, behind a door that can be shut in the middle of a verb. */

import { startPostgres } from '../support/postgres-server.ts';
import { openGate } from '../support/redis-gate.ts';
import { startRedis } from '../support/redis-server.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

export const SHARED_KINDS = ['redis', 'postgres'] as const;
export type SharedKind = (typeof SHARED_KINDS)[number];

export interface SharedServer {
  readonly kind: SharedKind;
  /** Through the door. */
  readonly url: string;
  /** A name that no crawl has yet. */
  crawlName(): string;
  /**
   * The verb that comes next loses its connection at a step that the dice choose, before or after the server took that
   * step.
   */
  breakNext(dice: (below: number) => number, onBroken: () => void): void;
  /** What was not broken by now will not be. */
  restore(): void;
  remove(): Promise<void>;
}

/** What passed the door has reached the server by then. */
const ARRIVED_MS = 5;
/** A verb has a command for each shard that it concerns, and a crawl few shards. */
const STEPS = 4;

const naming = (): (() => string) => {
  let crawls = 0;
  return () => `sim_${++crawls}`;
};

const onRedis = async (): Promise<SharedServer> => {
  const server = await startRedis();
  const gate = await openGate(server.port);
  const restore = (): void => {
    [gate.commands, gate.answers, gate.lastUnanswered, gate.onSwallowed] = [Infinity, true, false, null];
  };
  return {
    kind: 'redis',
    url: gate.url,
    crawlName: naming(),
    restore,
    breakNext: (dice, onBroken) => {
      gate.commands = dice(STEPS);
      gate.lastUnanswered = dice(2) === 0;
      gate.onSwallowed = () => {
        gate.onSwallowed = null;
        setTimeout(() => {
          restore();
          gate.cut();
          onBroken();
        }, ARRIVED_MS);
      };
    },
    remove: async () => {
      await gate.close();
      await server.remove();
    },
  };
};

const onPostgres = async (): Promise<SharedServer> => {
  const server = await startPostgres();
  const proxy = await openTcpProxy(server.port);
  const url = (await server.database()).replace(`:${server.port}/`, `:${proxy.port}/`);
  return {
    kind: 'postgres',
    url,
    crawlName: naming(),
    restore: proxy.spareAnswer,
    breakNext: (dice, onBroken) => {
      if (dice(2) === 0) return void proxy.swallowAnswer().then(onBroken);
      proxy.cut();
      proxy.mend();
      onBroken();
    },
    remove: async () => {
      await proxy.close();
      await server.remove();
    },
  };
};

export const startShared: Readonly<Record<SharedKind, () => Promise<SharedServer>>> = {
  redis: onRedis,
  postgres: onPostgres,
};
