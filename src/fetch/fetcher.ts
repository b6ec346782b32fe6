/** Sends HTTP requests within fixed ceilings: the door to everything in this room. */

import type { Clock } from '../lib/clock.ts';
import { portComplaint } from '../model/blocked-ports.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import type { Exchange } from '../model/exchange.ts';
import type { RequestKind } from '../model/request.ts';
import { createAddressGuard } from './address-guard.ts';
import { createBodyMemory, freeFinished } from './body-memory.ts';
import { createConnections, type OnSockets } from './connections.ts';
import { bare, targetOf, type ConnectTo } from './connect-to.ts';
import type { TlsChoice } from './connection.ts';
import { createDeadlines } from './deadlines.ts';
import { readHostsFile } from './hosts-file.ts';
import { createLookup } from './lookup.ts';
import { OngoingRequest } from './request.ts';
import { createRequestHeads, type RequestHeadParts, type RequestHeads } from './request-head.ts';
import type { Plan, Shared } from './request-plan.ts';
import { createTlsContext } from './tls-context.ts';
import { createTlsSessions } from './tls-sessions.ts';

/** How requests are sent, as far as it may change while others are under way. */
export interface Sending extends Omit<RequestHeadParts, 'credentials'> {
  /** Lookup, connection and TLS handshake together; the wait for a free socket does not count. */
  readonly connectTimeoutMs: number;
  /** From the request to the first byte of its response. */
  readonly responseTimeoutMs: number;
  /** Everything, the wait for a free socket included. */
  readonly totalTimeoutMs: number;
  readonly verifyTls: boolean;
}

export interface FetcherOptions extends Sending, Pick<RequestHeadParts, 'credentials'> {
  readonly clock: Clock;
  /** Ceiling on open sockets, kept ones included. */
  readonly socketsMax: number;
  /** What bodies in flight may hold together (see `body-memory.ts` for the exact ceiling). */
  readonly bodyMemoryBytes: number;
  /** True for all; or the private networks that may be visited. */
  readonly allowPrivateAddresses: boolean | readonly string[];
  readonly connectTo: readonly ConnectTo[];
  /** Instead of the machine's own, as `address:port`. */
  readonly nameServers?: readonly string[];
  readonly onSockets?: OnSockets;
}

export interface HttpRequest {
  /** An absolute http or https URL. */
  readonly url: string;
  /** Credentials go with pages and sitemaps, and with nothing that does not say what it is. */
  readonly kind?: RequestKind | undefined;
  readonly bodyBytesMax: number;
  /** Asked once when the head is in. A body that is not wanted is not downloaded. */
  readonly wantsBody: (status: number, headers: Readonly<Record<string, string>>) => boolean;
  /** Keep the connection this long for the next request to the same origin; 0 closes it. */
  readonly keepMs: number;
  /**
   * Called with the address before the first byte is sent to it; where several are tried, for each. If it throws,
   * nothing is sent, and `fetch` rejects.
   */
  readonly onSend?: ((address: string, startedAt: number) => void) | undefined;
  /** Asked when the first byte is about to leave: on false the request fails as one that was stopped. */
  readonly maySend?: (() => boolean) | undefined;
}

export interface Gauges {
  /** Open sockets, kept ones included. */
  readonly http: number;
  readonly https: number;
  readonly kept: number;
  /** What bodies hold, until they are forgotten. */
  readonly bodyBytes: number;
  /** Requests that wait for a free socket. */
  readonly waiting: number;
}

export interface Fetcher {
  /** Never rejects for anything the web does. */
  fetch(request: HttpRequest, signal?: AbortSignal): Promise<Exchange>;
  /** Fetches as `fetch` does, within the same ceilings, but sends in another way. */
  sending(how: Sending): Fetcher['fetch'];
  /** The body of this exchange is no longer in memory here: its bytes are free for others. */
  forget(exchange: Exchange): void;
  gauges(): Gauges;
  /** When a name server last gave an address. */
  namedAt(): number;
  /** Names that were missing are looked up anew. */
  forgetMissingNames(): void;
  /** Ends all requests, kept connections and lookups; no handle is left when it resolves. */
  close(): Promise<void>;
}

const NO_CREDENTIALS: SecretHeaders = new Map();

const createTlsChoice = (verify: boolean): TlsChoice => ({
  context: createTlsContext(verify),
  verify,
  sessions: createTlsSessions(),
});

export const createFetcher = (options: FetcherOptions): Fetcher => {
  const { clock, credentials = NO_CREDENTIALS } = options;
  const tlsChoices = new Map<boolean, TlsChoice>();
  const tlsFor = (verify: boolean): TlsChoice => {
    const known = tlsChoices.get(verify) ?? createTlsChoice(verify);
    tlsChoices.set(verify, known);
    return known;
  };
  const deadlines = createDeadlines(clock);
  const connections = createConnections(options.socketsMax, deadlines, options.onSockets);
  const memory = createBodyMemory(options.bodyMemoryBytes);
  const lookup = createLookup({ clock, hosts: readHostsFile(), nameServers: options.nameServers });
  const shared: Omit<Shared, 'connectTimeoutMs' | 'responseTimeoutMs' | 'totalTimeoutMs'> = {
    clock,
    lookup,
    connections,
    memory,
    deadlines,
    mayVisit: createAddressGuard(options.allowPrivateAddresses),
  };
  const underWay = new Set<OngoingRequest>();
  // A body may be transferred to another thread before it is forgotten, so its size is kept beside it.
  const unforgotten = new WeakMap<Exchange, number>();
  let closed = false;

  type Planned = Omit<Plan, 'done' | 'broke' | 'signal'>;

  const planOf = (
    request: HttpRequest,
    { headOf, verifyTls }: { headOf: RequestHeads; verifyTls: boolean },
  ): Planned => {
    const url = new URL(request.url);
    const secure = url.protocol === 'https:';
    if (!secure && url.protocol !== 'http:') throw new TypeError(`${request.url} is neither http nor https`);
    const host = bare(url.hostname);
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
    const target = targetOf(options.connectTo, host, port);
    const { origin } = url;
    // Whoever gets credentials must be who they were given for.
    const tls = secure ? tlsFor(verifyTls || credentials.has(origin)) : null;
    return {
      url: request.url,
      refusal: portComplaint(port),
      target,
      dial: { origin, host, port: target.port, tls },
      head: headOf(url, request.keepMs > 0, request.kind),
      bodyBytesMax: request.bodyBytesMax,
      wantsBody: request.wantsBody,
      keepMs: request.keepMs,
      onSend: request.onSend,
      maySend: request.maySend,
    };
  };

  const sending = (how: Sending): Fetcher['fetch'] => {
    const { connectTimeoutMs, responseTimeoutMs, totalTimeoutMs, verifyTls } = how;
    const limited: Shared = { ...shared, connectTimeoutMs, responseTimeoutMs, totalTimeoutMs };
    const headOf = createRequestHeads({ ...how, credentials });
    return (request, signal) =>
      new Promise((resolve, reject) => {
        const ongoing: OngoingRequest = new OngoingRequest(limited, {
          ...planOf(request, { headOf, verifyTls }),
          signal,
          done(exchange, bodyBytes) {
            underWay.delete(ongoing);
            if (bodyBytes > 0) unforgotten.set(exchange, bodyBytes);
            resolve(exchange);
          },
          broke(error) {
            underWay.delete(ongoing);
            reject(error as Error);
          },
        });
        if (closed) return ongoing.abort();
        underWay.add(ongoing);
        ongoing.begin();
      });
  };

  return {
    fetch: sending(options),
    sending,
    forget(exchange) {
      const bytes = unforgotten.get(exchange);
      if (bytes === undefined) return;
      unforgotten.delete(exchange);
      freeFinished(memory, bytes);
    },
    namedAt: lookup.foundAt,
    forgetMissingNames: lookup.forgetMissing,
    gauges() {
      const { http, https, kept, waiting } = connections.counts();
      return { http, https, kept, bodyBytes: memory.heldBytes, waiting };
    },
    async close() {
      closed = true;
      const socketsGone = connections.close(); // first, so that no request in the queue gets a freed socket
      for (const ongoing of underWay) ongoing.abort();
      lookup.close();
      await socketsGone;
      deadlines.close();
    },
  };
};
