/** Makes HTTP calls within fixed ceilings: the door to everything in this room. */

import type { Clock } from '../lib/clock.ts';
import type { Exchange } from '../model/exchange.ts';
import { createBodyMemory, freeFinished } from './body-memory.ts';
import { OngoingCall } from './call.ts';
import type { Plan, Shared } from './call-plan.ts';
import { createConnections, type OnSockets } from './connections.ts';
import { bare, targetOf, type ConnectTo } from './connect-to.ts';
import { createDeadlines } from './deadlines.ts';
import { readHostsFile } from './hosts-file.ts';
import { createLookup } from './lookup.ts';
import { createRequestTails, requestHead } from './request-head.ts';
import { createTlsContext } from './tls-context.ts';
import { createTlsSessions } from './tls-sessions.ts';

export interface FetcherOptions {
  readonly clock: Clock;
  /** The whole value of the User-Agent field. */
  readonly userAgent: string;
  /** The contact, for the From field. */
  readonly from: string;
  /** Ceiling on open sockets, kept ones included. */
  readonly socketsMax: number;
  /** What bodies in flight may hold together (see `body-memory.ts` for the exact ceiling). */
  readonly bodyMemoryBytes: number;
  /** Lookup, connection and TLS handshake together; the wait for a free socket does not count. */
  readonly connectTimeoutMs: number;
  /** From the request to the first byte of its answer. */
  readonly answerTimeoutMs: number;
  /** Everything, the wait for a free socket included. */
  readonly totalTimeoutMs: number;
  readonly verifyTls: boolean;
  readonly allowPrivateAddresses: boolean;
  readonly connectTo: readonly ConnectTo[];
  /** Instead of the machine's own, as `address:port`. */
  readonly nameServers?: readonly string[];
  readonly onSockets?: OnSockets;
}

export interface Call {
  /** An absolute http or https URL. */
  readonly url: string;
  readonly bodyBytesMax: number;
  /** Asked once when the head is in. A body that is not wanted is not downloaded. */
  readonly wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean;
  /** Keep the connection this long for the next call to the same origin; 0 closes it. */
  readonly keepMs: number;
  /**
   * Called with the address before the first byte leaves for it; where several are tried, for each. If it throws,
   * nothing leaves and the call rejects.
   */
  readonly leaving?: ((address: string, startedAt: number) => void) | undefined;
  /** Nothing of it leaves once the clock says this: then the call fails as one that was stopped. */
  readonly notAfter?: number | undefined;
}

export interface Gauges {
  /** Open sockets, kept ones included. */
  readonly http: number;
  readonly https: number;
  readonly kept: number;
  /** What bodies hold, until they are forgotten. */
  readonly bodyBytes: number;
  /** Calls that wait for a free socket. */
  readonly waiting: number;
}

export interface Fetcher {
  /** Never rejects for anything the web does. */
  fetch(call: Call, signal?: AbortSignal): Promise<Exchange>;
  /** The body of this exchange is no longer in memory here: its bytes are free for others. */
  forget(exchange: Exchange): void;
  gauges(): Gauges;
  /** Ends all calls, kept connections and lookups; no handle is left when it resolves. */
  close(): Promise<void>;
}

export const createFetcher = (options: FetcherOptions): Fetcher => {
  const { clock, verifyTls } = options;
  const tails = createRequestTails(options.userAgent, options.from);
  const tls = { context: createTlsContext(verifyTls), verify: verifyTls, sessions: createTlsSessions() };
  const deadlines = createDeadlines(clock);
  const connections = createConnections(options.socketsMax, deadlines, options.onSockets);
  const memory = createBodyMemory(options.bodyMemoryBytes);
  const lookup = createLookup({ clock, hosts: readHostsFile(), nameServers: options.nameServers });
  const shared: Shared = {
    clock,
    lookup,
    connections,
    memory,
    deadlines,
    connectTimeoutMs: options.connectTimeoutMs,
    answerTimeoutMs: options.answerTimeoutMs,
    totalTimeoutMs: options.totalTimeoutMs,
    allowPrivateAddresses: options.allowPrivateAddresses,
  };
  const calls = new Set<OngoingCall>();
  // A body may be transferred away before it is forgotten, so its size is kept beside it.
  const unforgotten = new WeakMap<Exchange, number>();
  let closed = false;

  const planOf = (call: Call): Omit<Plan, 'done' | 'broke' | 'signal'> => {
    const url = new URL(call.url);
    const secure = url.protocol === 'https:';
    if (!secure && url.protocol !== 'http:') throw new TypeError(`${call.url} is neither http nor https`);
    const host = bare(url.hostname);
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
    const target = targetOf(options.connectTo, host, port);
    return {
      url: call.url,
      target,
      dial: { origin: url.origin, host, port: target.port, tls: secure ? tls : null },
      requestHead: requestHead(url, call.keepMs > 0 ? tails.keep : tails.close),
      bodyBytesMax: call.bodyBytesMax,
      wantsBody: call.wantsBody,
      keepMs: call.keepMs,
      leaving: call.leaving,
      notAfter: call.notAfter ?? Infinity,
    };
  };

  return {
    fetch: (call, signal) =>
      new Promise((resolve, reject) => {
        const ongoing: OngoingCall = new OngoingCall(shared, {
          ...planOf(call),
          signal,
          done(exchange, bodyBytes) {
            calls.delete(ongoing);
            if (bodyBytes > 0) unforgotten.set(exchange, bodyBytes);
            resolve(exchange);
          },
          broke(error) {
            calls.delete(ongoing);
            reject(error as Error);
          },
        });
        if (closed) return ongoing.abort();
        calls.add(ongoing);
        ongoing.begin();
      }),
    forget(exchange) {
      const bytes = unforgotten.get(exchange);
      if (bytes === undefined) return;
      unforgotten.delete(exchange);
      freeFinished(memory, bytes);
    },
    gauges() {
      const { http, https, kept, waiting } = connections.counts();
      return { http, https, kept, bodyBytes: memory.heldBytes, waiting };
    },
    async close() {
      closed = true;
      const socketsGone = connections.close(); // first, so that no call in line gets a freed place
      for (const ongoing of calls) ongoing.abort();
      lookup.close();
      await socketsGone;
      deadlines.close();
    },
  };
};
