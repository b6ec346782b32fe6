/** What a Redis has done, by its own count: so a test knows that something has happened, without waiting a while. */

import type { Redis } from 'ioredis';
import { until } from './until.ts';

/** Scripts that it has run to their end since it was started, whoever sent them. */
export const scriptsRun = async (redis: Redis): Promise<number> =>
  [...(await redis.info('commandstats')).matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );

/** Resolves when it has run so many more. */
export const untilScriptsRan = async (redis: Redis, more: number): Promise<void> => {
  const before = await scriptsRun(redis);
  await until(`${more} more scripts have run`, async () => (await scriptsRun(redis)) >= before + more);
};
