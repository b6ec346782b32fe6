/** Takes a crawl in Redis back to an earlier moment, as a failover to a replica that lags does. */

import type { Redis } from 'ioredis';

export interface Past {
  /** All keys of the crawl are again what they were then; keys that came since are gone. */
  restore(): Promise<void>;
}

export const rememberCrawl = async (redis: Redis, crawl: string, isMeant = (_: string): boolean => true) => {
  const keysNow = async (): Promise<string[]> =>
    [...(await redis.keys(`{${crawl}}:*`)), ...(await redis.keys(`{${crawl}:*`))].filter(isMeant);
  const dumps = await Promise.all((await keysNow()).map(async (key) => [key, await redis.dumpBuffer(key)] as const));
  const past: Past = {
    restore: async () => {
      const now = await keysNow();
      const restoring = redis.multi();
      if (now.length > 0) restoring.del(...now);
      for (const [key, dump] of dumps) restoring.restore(key, 0, dump as never);
      await restoring.exec();
    },
  };
  return past;
};
