/** What a call of a fetcher is about, and what all its calls share. */

import type { Clock } from '../lib/clock.ts';
import type { Exchange } from '../model/exchange.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Target } from './connect-to.ts';
import type { Dial } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Deadlines } from './deadlines.ts';
import type { Lookup } from './lookup.ts';

/** What all calls of a fetcher share. */
export interface Shared {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly connections: Connections;
  readonly memory: BodyMemory;
  readonly deadlines: Deadlines;
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly allowPrivateAddresses: boolean;
}

/** What one call is about. */
export interface Plan {
  readonly url: string;
  readonly target: Target;
  /** For a fresh connection; its address is known after the lookup. */
  readonly dial: Omit<Dial, 'address'>;
  readonly requestHead: string;
  readonly bodyBytesMax: number;
  readonly wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean;
  readonly keepMs: number;
  /** Told before anything leaves; may throw. */
  readonly leaving: ((address: string, startedAt: number) => void) | undefined;
  /** Past this moment nothing leaves any more. */
  readonly notAfter: number;
  readonly signal: AbortSignal | undefined;
  readonly done: (exchange: Exchange, bodyBytes: number) => void;
  /** Something of our own broke: not the web's fault. */
  readonly broke: (error: unknown) => void;
}
