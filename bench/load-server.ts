/** A web that behaves badly: one server for all host names, which does what the kind of the host says. */

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { makeProse } from '../src/world/prose.ts';
import { mix, pick } from '../src/world/random.ts';
import { CLOSED_PORT, kindOf, linksOf, makeHosts, seedsOf, type BadKind } from './load-hosts.ts';

export interface BadWeb {
  readonly connectTo: readonly string[];
  readonly seeds: readonly string[];
  /** Connections open now. */
  readonly sockets: () => number;
  close(): Promise<void>;
}

export interface BadWebOptions {
  readonly hosts: number;
  /** Slow redirects take this long each: less than the crawl's timeout. */
  readonly stallMs: number;
}

/** Thousands connect within a second; the system may allow fewer. */
const BACKLOG = 16_384;
/** Nothing listens on the port of tcpmux; one of the ephemeral ports might connect to itself. */
const NOBODY = 1;
/** All bodies that drip do so together, on one timer. */
const DRIP_MS = 1_000;
const GOOD_MS_LEAST = 20;
const GOOD_MS_MORE = 280;
const PAGE_BLOCKS = 4; // of 2 KB
const SMALL = Buffer.alloc(20_000, 'The page goes on and on. ');
const LARGE = Buffer.alloc(256 * 1024, 'x');
const LINE = Buffer.from('X-More: and more\r\n');
const LINES = Buffer.from('X-More: and more\r\n'.repeat(200));
/** Longer than any request that a crawler of ours sends. */
const REQUEST_CHARS_MAX = 8_192;

const HTML = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';
const PROMISE = `${HTML}Content-Length: 100000\r\n\r\n<title>half a page</title>`;
const ROBOTS = answerOf('text/plain', Buffer.from('User-agent: *\nDisallow: /private/\n'));

function answerOf(type: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

export const serveBadWeb = async ({ hosts: count, stallMs }: BadWebOptions): Promise<BadWeb> => {
  const hosts = makeHosts(count);
  const sockets = new Set<Socket>();
  const drips = new Map<Socket, Buffer>();
  const prose = makeProse(7);
  const timer = setInterval(() => {
    for (const [socket, piece] of drips) socket.write(piece);
  }, DRIP_MS);

  /** Write as fast as it is taken, until nobody takes it. */
  const pour = (socket: Socket, piece: Buffer): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', () => pour(socket, piece));
  };

  const pageOf = (hostname: string, page: number): Buffer => {
    const links = linksOf(hosts, hostname, page)
      .map((href, at) => `<li><a href="${href}">link ${at}</a></li>`)
      .join('\n');
    const blocks = Array.from({ length: PAGE_BLOCKS }, (_, at) =>
      pick(prose.blocks, mix(page, mix(hostname.length, at))),
    );
    return answerOf(
      'text/html',
      Buffer.concat([Buffer.from(`<title>${hostname}, page ${page}</title><ul>${links}</ul>\n`), ...blocks]),
    );
  };

  const MISDEEDS: Readonly<Record<Exclude<BadKind, 'closed' | 'stall'>, (socket: Socket) => void>> = {
    loris: (socket) => {
      socket.write(PROMISE);
      drips.set(socket, Buffer.from('a'));
    },
    endless: (socket) => {
      socket.write(HTML);
      drips.set(socket, LINE);
    },
    mute: () => {},
    deaf: () => {},
    maze: () => {},
    short: (socket) => void socket.write(PROMISE),
    early: (socket) => void socket.end(PROMISE),
    long: (socket) => void socket.write(Buffer.concat([Buffer.from(`${HTML}Content-Length: 1000\r\n\r\n`), SMALL])),
    snap: (socket) => void socket.resetAndDestroy(),
    tear: (socket) => void socket.write(PROMISE, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    broken: (socket) => void socket.write('HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n'),
    flood: (socket) => {
      socket.write(`${HTML}\r\n<title>no end</title>`);
      pour(socket, LARGE);
    },
    boast: (socket) => {
      socket.write(HTML);
      pour(socket, LINES);
    },
    babble: (socket) => void socket.write('welcome to the line printer\r\n'),
  };

  const answer = (socket: Socket, hostname: string, path: string): void => {
    const kind = kindOf(hostname);
    const hop = /^\/(?:robots\.txt|hop\/(\d))$/.exec(path);
    if (kind === 'maze' && hop && hop[1] !== '5') {
      const next = Number(hop[1] ?? 0) + 1;
      return void setTimeout(
        () => socket.write(`HTTP/1.1 302 Found\r\nLocation: /hop/${next}\r\nContent-Length: 0\r\n\r\n`),
        stallMs,
      );
    }
    if (hop && kind !== 'deaf') return void socket.write(ROBOTS);
    if (kind !== 'good') return MISDEEDS[kind as keyof typeof MISDEEDS](socket);
    const page = Number(/\/p\/(\d+)$/.exec(path)?.[1] ?? 0);
    setTimeout(() => socket.write(pageOf(hostname, page)), GOOD_MS_LEAST + (mix(page, hostname.length) % GOOD_MS_MORE));
  };

  const converse = (socket: Socket): void => {
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return text.length > REQUEST_CHARS_MAX ? void socket.destroy() : undefined;
      const [, path = '/', hostname = ''] = /^GET (\S+) [^]*?\r\nHost: ([^\r:]+)/.exec(text) ?? [];
      text = text.slice(end + 4);
      answer(socket, hostname, path);
    });
  };

  const listen = async (server: Server): Promise<number> => {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        drips.delete(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, resolve));
    return (server.address() as AddressInfo).port;
  };

  const servers = {
    http: createServer({ noDelay: true }, converse),
    stall: createServer((socket) => void socket.resume()),
  };
  const ports = { http: await listen(servers.http), stall: await listen(servers.stall) };
  return {
    connectTo: [
      `*:80:127.0.0.1:${ports.http}`,
      `*:443:127.0.0.1:${ports.stall}`,
      `*:${CLOSED_PORT}:127.0.0.1:${NOBODY}`,
    ],
    seeds: seedsOf(hosts),
    sockets: () => sockets.size,
    close: async () => {
      clearInterval(timer);
      const closed = [servers.http, servers.stall].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
};
