/** Real servers on loopback and a fetcher for them; everything is closed at the end, and that is checked. */

import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TlsOptions } from 'node:tls';
import { createFetcher, type Fetcher, type FetcherOptions, type HttpRequest } from '../../src/fetch/fetcher.ts';
import { createClock } from '../../src/lib/clock.ts';
import type { Answered, Exchange, Failed } from '../../src/model/exchange.ts';
import { PATIENCE_MS } from './until.ts';

export interface Place {
  /** `onRequest` is called with each whole request head; `count` numbers them per server from 1. */
  serve(onRequest: OnRequest, tls?: TlsOptions, prepare?: (server: TlsServer) => void): Promise<Served>;
  /** Raw: called for each connection. */
  listen(onSocket: (socket: Socket) => void, host?: string): Promise<Served>;
  fetcher(options?: Partial<FetcherOptions>): Fetcher;
}

export type OnRequest = (socket: Socket, head: string, count: number) => void;

export interface Served {
  readonly port: number;
  readonly url: string;
  readonly heads: string[];
  readonly sockets: Set<Socket>;
  /** Connections ever made. */
  readonly connections: () => number;
}

export const onLoopback = async (story: (place: Place) => Promise<void>): Promise<void> => {
  const closers: (() => Promise<void>)[] = [];
  const start = async (server: Server, scheme: string, host = '127.0.0.1'): Promise<Served> => {
    const sockets = new Set<Socket>();
    let connections = 0;
    server.on('connection', (socket: Socket) => {
      connections++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    closers.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        }),
    );
    const { port } = server.address() as AddressInfo;
    const name = host.includes(':') ? `[${host}]` : host;
    return { port, url: `${scheme}://${name}:${port}/`, heads: [], sockets, connections: () => connections };
  };

  const place: Place = {
    listen: (onSocket, host) => start(createServer(onSocket), 'http', host),
    async serve(onRequest, tls, prepare = () => {}) {
      const heads: string[] = [];
      const onSocket = (socket: Socket): void => {
        let text = '';
        socket.on('error', () => {});
        socket.on('data', (bytes: Buffer) => {
          text += bytes.toString('latin1');
          for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
            const head = text.slice(0, end + 4);
            text = text.slice(end + 4);
            heads.push(head);
            onRequest(socket, head, heads.length);
          }
        });
      };
      const server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket);
      if (tls !== undefined) prepare(server as TlsServer);
      return { ...(await start(server, tls === undefined ? 'http' : 'https')), heads };
    },
    fetcher(options = {}) {
      const fetcher = createFetcher({ ...DEFAULTS, clock: createClock(), ...options });
      closers.unshift(async () => {
        await fetcher.close();
        const { http, https, kept, waiting } = fetcher.gauges();
        assert.deepEqual({ http, https, kept, waiting }, { http: 0, https: 0, kept: 0, waiting: 0 });
      });
      return fetcher;
    },
  };
  try {
    await story(place);
  } finally {
    for (const close of closers) await close();
  }
  await turns(5); // handles go a moment after their close event
  const left = process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP') || kind.startsWith('TLS'));
  assert.deepEqual(left, [], 'a socket was left open');
};

/** Where a test is not about a time-out, no machine is slow enough for one. */
const DEFAULTS: Omit<FetcherOptions, 'clock'> = {
  userAgent: 'Gossamer/0 (+contact; me@example.org)',
  from: 'me@example.org',
  socketsMax: 100,
  bodyMemoryBytes: 64 * 1024 * 1024,
  connectTimeoutMs: PATIENCE_MS,
  responseTimeoutMs: PATIENCE_MS,
  totalTimeoutMs: PATIENCE_MS,
  verifyTls: false,
  allowPrivateAddresses: true,
  connectTo: [],
};

/** A request with what most tests want. */
export const requestFor = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  url,
  bodyBytesMax: 1024 * 1024,
  wantsBody: () => true,
  keepMs: 0,
  ...more,
});

export const answered = (exchange: Exchange): Answered => {
  assert.equal(exchange.kind, 'answered', JSON.stringify(exchange));
  return exchange as Answered;
};

export const failed = (exchange: Exchange): Failed => {
  assert.equal(exchange.kind, 'failed');
  return exchange as Failed;
};

export const textOf = (exchange: Exchange): string => Buffer.from(answered(exchange).body).toString('latin1');

/** Let everything that is ready happen. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};
