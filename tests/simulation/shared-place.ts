/** A real Redis or PostgreSQL for simulated crawls, behind a door that can be shut in the middle of a verb. */

import { Redis } from 'ioredis';
import { startPostgres } from '../support/postgres-server.ts';
import { openGate } from '../support/redis-gate.ts';
import { rememberCrawl } from '../support/redis-past.ts';
import { startRedis } from '../support/redis-server.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

/** Few, so that a verb concerns most of them and costs little; a crawl has 64. */
export const SHARED_SHARDS = 4;

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
  /** Remembers a crawl. What it gives takes it back to that, on a server that is another one: see `Durable`. */
  save(crawl: string, dice: (below: number) => number): Promise<() => Promise<void>>;
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

/** All of it, or some shards: those of a cluster fail over one by one, and not all of them have a replica that lags. */
const meantOf = (crawl: string, dice: (below: number) => number): ((key: string) => boolean) => {
  const [isWhole, shards] = [dice(2) === 0, 1 + dice(2 ** SHARED_SHARDS - 1)];
  const shardIn = new RegExp(`^\\{${crawl}:(\\d+)\\}`);
  return (key) => {
    const shard = shardIn.exec(key)?.[1];
    return isWhole || (shard !== undefined && (shards & (2 ** Number(shard))) !== 0);
  };
};

const onRedis = async (): Promise<SharedServer> => {
  const server = await startRedis({ 'enable-debug-command': 'yes' });
  const beside = new Redis(server.url);
  const gate = await openGate(server.port);
  const restore = (): void => {
    [gate.commands, gate.answers, gate.lastUnanswered, gate.onSwallowed] = [Infinity, true, false, null];
  };
  return {
    kind: 'redis',
    url: gate.url,
    crawlName: naming(),
    restore,
    save: async (crawl, dice) => {
      const past = await rememberCrawl(beside, crawl, meantOf(crawl, dice));
      return async () => {
        await past.restore();
        await beside.call('DEBUG', 'CHANGE-REPL-ID');
      };
    },
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
      beside.disconnect();
      await gate.close();
      await server.remove();
    },
  };
};

let saves = 0;

/** The server stays the same, so the crawl is told that it was last in order on another one. */
const savePostgres = async (
  query: (text: string) => Promise<Record<string, unknown>[]>,
  schema: string,
): Promise<() => Promise<void>> => {
  const tables = (await query(`SELECT tablename AS t FROM pg_tables WHERE schemaname = '${schema}'`)).map(
    ({ t }) => t as string,
  );
  const saved = `saved_${++saves}`;
  await query(
    `CREATE SCHEMA ${saved}; ${tables.map((t) => `CREATE TABLE ${saved}.${t} AS TABLE ${schema}.${t}`).join('; ')}`,
  );
  return async () => {
    const put = tables.map((t) => `INSERT INTO ${schema}.${t} OVERRIDING SYSTEM VALUE SELECT * FROM ${saved}.${t}`);
    await query(
      `BEGIN; TRUNCATE ${tables.map((t) => `${schema}.${t}`).join(', ')}; ${put.join('; ')};
      UPDATE ${schema}.meta SET value = 'gone ${++saves}' WHERE name = 'server'; COMMIT`,
    );
  };
};

const onPostgres = async (): Promise<SharedServer> => {
  const server = await startPostgres();
  const proxy = await openTcpProxy(server.port);
  const straight = await server.database();
  const url = straight.replace(`:${server.port}/`, `:${proxy.port}/`);
  return {
    kind: 'postgres',
    url,
    crawlName: naming(),
    restore: proxy.spareAnswer,
    save: (crawl) => savePostgres((text) => server.query(straight, text), `gossamer_${crawl}`),
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
