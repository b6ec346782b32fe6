/** What a request of a fetcher asks for, and what all requests of a fetcher share. */

import type { Clock } from '../lib/clock.ts';
import type { Exchange } from '../model/exchange.ts';
import type { AddressGuard } from './address-guard.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Target } from './connect-to.ts';
import type { Dial } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Deadlines } from './deadlines.ts';
import type { Lookup } from './lookup.ts';
import type { RequestHead } from './request-head.ts';

/** What all requests of a fetcher share. */
export interface Shared {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly connections: Connections;
  readonly memory: BodyMemory;
  readonly deadlines: Deadlines;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** Which addresses may be visited, where no rule names them. */
  readonly mayVisit: AddressGuard;
}

/** What one request asks for, and who is told of it. */
export interface Plan {
  readonly url: string;
  /** Why nothing is sent, whatever address the host has; null when nothing forbids it. */
  readonly refusal: string | null;
  readonly target: Target;
  /** For a fresh connection; its address is known after the lookup. */
  readonly dial: Omit<Dial, 'address'>;
  readonly head: RequestHead;
  readonly bodyBytesMax: number;
  readonly wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean;
  readonly keepMs: number;
  /** Called before anything is sent; may throw. */
  readonly onSend: ((address: string, startedAt: number) => void) | undefined;
  /** Whether anything may be sent now. */
  readonly maySend: (() => boolean) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly done: (exchange: Exchange, bodyBytes: number) => void;
  /** Something of our own broke: not the web's fault. */
  readonly broke: (error: unknown) => void;
}
