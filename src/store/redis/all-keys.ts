/** All keys of a crawl, by a scan of every node; each may come twice. */

import { Cluster, type Redis } from 'ioredis';
import { StoreFault } from '../../frontier/store.ts';
import { goneBecause, isGone, redisFault } from './faults.ts';
import type { Look } from './look.ts';

const KEYS_AT_ONCE = 1_000;

export async function* allKeys(look: Look): AsyncGenerator<string[], void, undefined> {
  const {
    client,
    place: { crawl },
  } = look;
  const nodes: readonly Redis[] = client instanceof Cluster ? client.nodes('master') : [client];
  for (const node of nodes) {
    for (let cursor = '0'; ; ) {
      // No name of a crawl has a character that means something in a pattern.
      const [next, keys] = await plainly(look, () =>
        node.scan(cursor, 'MATCH', `{${crawl}[:}]*`, 'COUNT', KEYS_AT_ONCE),
      );
      if (keys.length > 0) yield keys;
      if ((cursor = next) === '0') break;
    }
  }
}

/** Removes all keys but this one. */
export const removeKeys = async (look: Look, kept: string): Promise<void> => {
  for await (const keys of allKeys(look)) {
    const bySlot = Map.groupBy(
      keys.filter((key) => key !== kept),
      (key) => key.slice(0, key.indexOf('}')),
    );
    await plainly(look, () => Promise.all([...bySlot.values()].map((some) => look.client.unlink(...some))));
  }
};

/** A command that is no script: it is not repeated, and what goes wrong is told as elsewhere. */
const plainly = async <T>({ where }: Look, command: () => Promise<T>): Promise<T> => {
  try {
    return await command();
  } catch (error) {
    throw isGone(error as Error) ? goneFault(where, error as Error) : redisFault(error, where);
  }
};

export const goneFault = (where: string, error: Error): StoreFault =>
  new StoreFault(`Redis at ${where} does not answer (${goneBecause(error)})`, 'see that it runs, then run this again');
