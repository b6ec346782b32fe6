/** Sends steps to Redis, many in one go, and waits while it is gone. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import type { StoreFault } from '../../contract/fault.ts';
import type { Clock } from '../../lib/clock.ts';
import type { FrontierPlace } from '../../model/settings.ts';
import type { Client, Connected } from './connect.ts';
import { closedFault, goneBecause, isGone, lastWords, redisFault } from './faults.ts';
import type { Keys } from './keys.ts';
import { loadSteps, type LuaStep, type StepName } from './lua.ts';

export interface Step {
  readonly name: StepName;
  /** Null for the whole crawl. */
  readonly shard: number | null;
  readonly args: readonly (string | number)[];
  /** For a step that has no keys of its own. */
  readonly keys?: readonly string[];
  /** The time of the step, if it is not the store's. */
  readonly at?: number;
}

/** A command that only reads. */
export type Command = readonly [name: string, key: string, ...rest: (string | number)[]];

/** Commands of one shard, or of the whole crawl, that are read at one moment. */
export const reading = (shard: number | null, commands: readonly Command[]): Step => ({
  name: 'read',
  shard,
  keys: commands.map(([, key]) => key),
  args: commands.map(([name, , ...rest]) => JSON.stringify([name, ...rest])),
});

/** One step for each shard. */
export const everyShard = <T>(shards: number, stepOf: (shard: number) => T): T[] =>
  Array.from({ length: shards }, (_, shard) => stepOf(shard));

/** What Redis answers as name and value in turn. */
export const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);

/** `lost`: nobody knows whether it happened. */
export type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly fault: StoreFault }
  | { readonly kind: 'lost' };

export interface Wire {
  /** All in one go, once. */
  once(steps: readonly Step[]): Promise<Answer[]>;
  /** All in one go; what was lost is sent again until it is answered. For steps that may be repeated. */
  each(steps: readonly Step[]): Promise<Exclude<Answer, { kind: 'lost' }>[]>;
  /** All in one go, until they are answered; throws the first refusal. */
  all(steps: readonly Step[]): Promise<unknown[]>;
  /** Reads of one shard, or of the whole crawl, at one moment. */
  read(shard: number | null, ...commands: readonly Command[]): Promise<unknown[]>;
  /** Steps have the time of this clock from now on, not that of the server. */
  follow(clock: Clock): void;
  /** The masters of a cluster, as far as they are known; none where there is a single server. */
  masters(): readonly Redis[];
  /** The slot of a shard in a cluster; null when nobody says. */
  slotOf(shard: number): Promise<number | null>;
  /** Whether it is open; after this no step is taken any more. */
  isOpen(): boolean;
  close(): void;
}

export interface WireParts extends Connected {
  readonly keys: Keys;
  readonly member: string;
  readonly frontier: FrontierPlace;
  readonly say: (message: string) => void;
}

/** While it is gone it is asked again after this, then after twice as long, up to the most. */
const WAIT_MS = 50;
const WAIT_MS_MAX = 1_000;

export const createWire = ({ client, where, keys, member, frontier, say }: WireParts): Wire => {
  const steps = loadSteps(frontier);
  const commands = defineSteps(client, steps);
  const closing = new AbortController();
  let clock: Clock | null = null;
  let isGoneNow = false;
  const { hear, words, forget } = lastWords();
  client.on('error', hear);
  client.on('node error', hear);
  const whileOpen = (): void => {
    if (closing.signal.aborted) throw closedFault();
  };

  const sendOne = async ({ name, shard, args, at = clock?.now(), ...step }: Step): Promise<Answer> => {
    try {
      const named = (step.keys ?? steps[name].keys).map((key) => keys.of(key, shard));
      const value = await commands[name](named.length, ...named, keys.tag(shard), at ?? '', member, ...args);
      return { kind: 'answered', value };
    } catch (thrown) {
      const error = thrown as Error;
      if (!isGone(error)) return { kind: 'refused', fault: redisFault(error, where) };
      // A connection that was refused what it needs (its password, its database) looks like one that is gone.
      const why = words() ?? error;
      if (!isGone(why)) return { kind: 'refused', fault: redisFault(why, where) };
      miss(error.name === 'ReplyError' ? error : why);
      return { kind: 'lost' };
    }
  };

  const miss = (error: Error): void => {
    if (isGoneNow || closing.signal.aborted) return;
    isGoneNow = true;
    say(`Redis at ${where} does not answer (${goneBecause(error)}); waiting`);
  };

  const once: Wire['once'] = async (some) => {
    whileOpen();
    const answers = await Promise.all(some.map(sendOne));
    whileOpen();
    if (isGoneNow && answers.length > 0 && answers.every(({ kind }) => kind !== 'lost')) {
      isGoneNow = false;
      forget();
      say(`Redis at ${where} is back`);
    }
    return answers;
  };

  const each: Wire['each'] = async (some) => {
    const answers = await once(some);
    for (let ms = WAIT_MS; answers.some(({ kind }) => kind === 'lost'); ms = Math.min(2 * ms, WAIT_MS_MAX)) {
      await sleep(ms, null, { signal: closing.signal }).catch(() => {});
      const missing = answers.flatMap(({ kind }, i) => (kind === 'lost' ? [i] : []));
      const again = await once(missing.map((i) => some[i]!));
      again.forEach((answer, i) => (answers[missing[i]!] = answer));
    }
    return answers as Awaited<ReturnType<Wire['each']>>;
  };

  const all: Wire['all'] = async (some) =>
    (await each(some)).map((answer) => {
      if (answer.kind === 'refused') throw answer.fault;
      return answer.value;
    });

  return {
    once,
    each,
    all,
    read: async (shard, ...some) => (await all([reading(shard, some)]))[0] as unknown[],
    follow: (other) => void (clock = other),
    masters: () => (client instanceof Cluster ? client.nodes('master') : []),
    slotOf: async (shard) => {
      const slot: unknown = await client.call('CLUSTER', 'KEYSLOT', keys.tag(shard)).catch(() => null);
      return slot === null ? null : Number(slot);
    },
    isOpen: () => !closing.signal.aborted,
    close: () => {
      closing.abort();
      client.disconnect();
    },
  };
};

type Run = (...args: readonly (string | number)[]) => Promise<unknown>;

/** Loaded with its first use on a connection, named by its hash after that, and loaded again where it is forgotten. */
const defineSteps = (client: Client, steps: Readonly<Record<StepName, LuaStep>>): Readonly<Record<StepName, Run>> =>
  Object.fromEntries(
    Object.entries(steps).map(([name, { lua }]) => {
      client.defineCommand(`gossamer-${name}`, { lua });
      const run = (client as unknown as Record<string, Run>)[`gossamer-${name}`]!;
      return [name, (...args) => run.apply(client, args as never)] satisfies [string, Run];
    }),
  ) as Record<StepName, Run>;
