/** Sends scripts to Redis, many in one go, and waits while it is gone. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreFault } from '../../frontier/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Client, Connected } from './connect.ts';
import { closedFault, goneBecause, isGone, lastWords, redisFault } from './faults.ts';
import type { Keys } from './keys.ts';
import { SCRIPTS, type ScriptName } from './scripts/all.ts';
import type { Script } from './scripts/parts.ts';

export interface Call {
  readonly name: ScriptName;
  readonly shard: number;
  readonly args: readonly (string | number)[];
}

/** `lost`: nobody knows whether it happened. */
export type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly fault: StoreFault }
  | { readonly kind: 'lost' };

export interface Wire {
  /** All in one go, once. */
  once(calls: readonly Call[]): Promise<Answer[]>;
  /** All in one go; what was lost is sent again until it is answered. For steps that may be repeated. */
  each(calls: readonly Call[]): Promise<Exclude<Answer, { kind: 'lost' }>[]>;
  /** The same; throws the first refusal. */
  all(calls: readonly Call[]): Promise<unknown[]>;
  /** Resolves when Redis answers. */
  back(): Promise<void>;
  /** Whether it is open; after this no step is taken any more. */
  isOpen(): boolean;
  close(): void;
}

export interface WireParts extends Connected {
  readonly keys: Keys;
  readonly member: string;
  /** Null for the server's own time. */
  readonly clock: Clock | null;
  readonly say: (message: string) => void;
  /** Those for lines in files, where they lie there. */
  readonly scripts?: Readonly<Record<ScriptName, Script>>;
}

/** While it is gone it is asked again after this, then after twice as long, up to the most. */
const WAIT_MS = 50;
const WAIT_MS_MAX = 1_000;

type Command = (...args: readonly (string | number)[]) => Promise<unknown>;

export const createWire = ({ client, where, keys, member, clock, say, scripts = SCRIPTS }: WireParts): Wire => {
  const commands = defineScripts(client, scripts);
  const closing = new AbortController();
  let isGoneNow = false;
  const { hear, words, forget } = lastWords();
  client.on('error', hear);
  client.on('node error', hear);
  const whileOpen = (): void => {
    if (closing.signal.aborted) throw closedFault();
  };

  const sendOne = async ({ name, shard, args }: Call): Promise<Answer> => {
    try {
      const time = clock === null ? '' : String(clock.now());
      return {
        kind: 'answered',
        value: await commands[name](
          ...scripts[name].keys.map((key) => keys.of(key, shard)),
          keys.tag(shard),
          time,
          member,
          ...args,
        ),
      };
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

  const once = async (calls: readonly Call[]): Promise<Answer[]> => {
    whileOpen();
    const answers = await Promise.all(calls.map(sendOne));
    whileOpen();
    if (isGoneNow && answers.length > 0 && answers.every(({ kind }) => kind !== 'lost')) {
      isGoneNow = false;
      forget();
      say(`Redis at ${where} is back`);
    }
    return answers;
  };

  const each: Wire['each'] = async (calls) => {
    const answers = await once(calls);
    for (
      let waitMs = WAIT_MS;
      answers.some(({ kind }) => kind === 'lost');
      waitMs = Math.min(2 * waitMs, WAIT_MS_MAX)
    ) {
      await sleep(waitMs, null, { signal: closing.signal }).catch(() => {});
      const missing = answers.flatMap(({ kind }, i) => (kind === 'lost' ? [i] : []));
      const again = await once(missing.map((i) => calls[i]!));
      again.forEach((answer, i) => (answers[missing[i]!] = answer));
    }
    return answers as Awaited<ReturnType<Wire['each']>>;
  };

  const all: Wire['all'] = async (calls) =>
    (await each(calls)).map((answer) => {
      if (answer.kind === 'refused') throw answer.fault;
      return answer.value;
    });

  return {
    once,
    each,
    all,
    back: async () => void (await all([{ name: 'meta', shard: 0, args: [] }])),
    isOpen: () => !closing.signal.aborted,
    close: () => {
      closing.abort();
      client.disconnect();
    },
  };
};

/**
 * Loaded with its first use on a connection, named by its hash after that, and loaded again where the server has
 * forgotten it.
 */
const defineScripts = (
  client: Client,
  scripts: NonNullable<WireParts['scripts']>,
): Readonly<Record<ScriptName, Command>> => {
  const defined = {} as Record<ScriptName, Command>;
  for (const name of Object.keys(scripts) as ScriptName[]) {
    const { lua, keys } = scripts[name];
    client.defineCommand(`gossamer-${name}`, { lua, numberOfKeys: keys.length });
    const command = (client as unknown as Record<string, Command>)[`gossamer-${name}`]!;
    defined[name] = (...args) => command.apply(client, args as never);
  }
  return defined;
};
