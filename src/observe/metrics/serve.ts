/** Serves the metrics of a crawl over HTTP, for Prometheus to fetch. */

import { createServer, type Server } from 'node:http';
import { isIPv6, type AddressInfo, type Socket } from 'node:net';
import { UsageError } from '../../model/read-settings.ts';
import { CONTENT_TYPE } from './text.ts';

const PATH = '/metrics';
const LOOPBACK = '127.0.0.1';
const PORT_MOST = 65_535;
/** Far more than programs that watch one crawl. */
export const CONNECTIONS_MAX = 50;
/** A connection on which nothing moves for so long, not even an answer that is there, is ended. */
const SILENCE_MS_MAX = 60_000;

export interface Listen {
  readonly host: string;
  readonly port: number;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `9464`, `0.0.0.0:9464`, `[::1]:9464`. Null when it is none of these. */
export const readListen = (text: string): Listen | null => {
  const match = /^(?:(\[[^\]]+\]|[^:[\]\s/]+):)?(\d{1,5})$/.exec(text.trim());
  if (!match) return null;
  const host = (match[1] ?? LOOPBACK).replace(/^\[|\]$/g, '');
  const port = Number(match[2]);
  if (port > PORT_MOST || (match[1]?.startsWith('[') && !isIPv6(host))) return null;
  return { host, port };
};

/** Throws a UsageError when nothing could be served there; before a crawl is made or changed. */
export const checkListen = async (text: string): Promise<void> => {
  if (text === '') return;
  const server = await listen(createServer(), text);
  await new Promise((resolve) => server.close(resolve));
};

/** `read` gives the text of this moment. */
export const serveMetrics = async (text: string, read: () => string): Promise<MetricsServer> => {
  const busy = new WeakSet<Socket>();
  const server = await listen(
    createServer((request, response) => {
      const { socket } = request;
      // Nothing that fetches metrics asks again before it has its answer. Who does, and reads none, would let answers
      // pile up here.
      if (busy.has(socket)) return void socket.destroy();
      busy.add(socket);
      response.once('close', () => busy.delete(socket));
      const plain = 'text/plain; charset=utf-8';
      const answer = (status: number, body: string, type: string = plain): void => {
        response.writeHead(status, {
          'content-type': type,
          'content-length': Buffer.byteLength(body),
          ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      };
      request.resume();
      if ((request.url ?? '').split('?')[0] !== PATH)
        return answer(404, `There is nothing here; the metrics are at ${PATH}\n`);
      if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'Only GET is answered.\n');
      try {
        answer(200, read(), CONTENT_TYPE);
      } catch (error) {
        // a crawl does not end because somebody looked at it
        answer(500, `The metrics could not be read: ${(error as Error).message}\n`);
      }
    }),
    text,
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.setTimeout(SILENCE_MS_MAX);
  return {
    url: urlOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const urlOf = (server: Server): string => {
  const { address, port } = server.address() as AddressInfo;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}${PATH}`;
};

const listen = (server: Server, text: string): Promise<Server> => {
  const where = readListen(text);
  if (!where)
    throw new UsageError(
      `--metrics "${text}" is not understood: write PORT or HOST:PORT, such as 9464 or 0.0.0.0:9464`,
    );
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new UsageError(`--metrics "${text}" cannot be served: ${reasonOf(error, where)}`)),
    );
    server.listen(where.port, where.host, () => resolve(server));
  });
};

const reasonOf = ({ code, message }: NodeJS.ErrnoException, { host, port }: Listen): string => {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is taken; choose another, or 0 for any that is free`;
    case 'EACCES':
      return `this user may not listen on port ${port}; choose one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine`;
    default:
      return message;
  }
};
