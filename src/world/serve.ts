/** Serves a world on loopback, over http and https. */

import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { World } from './world.ts';
import type { Recorder } from './record.ts';
import type { Conversation } from './converse.ts';
import { selfSigned } from './certificate.ts';
import { converse } from './converse.ts';
import { createRecorder } from './record.ts';
import { responseOf } from './sheet.ts';

export interface ServedWorld {
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Values for two `--connect-to` flags. */
  readonly connectTo: readonly string[];
  /** The certificate, for a client that verifies it. */
  readonly certificate: string;
  readonly record: Recorder;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host?: '127.0.0.1';
  /** 0, the default, takes any port that is free. */
  readonly httpPort?: number;
  readonly httpsPort?: number;
  /** False keeps no record, for benchmarks. */
  readonly record?: boolean;
}

/** A certificate with more names than this would weigh down every handshake. */
const CERTIFICATE_NAMES_MAX = 100;
/** A benchmark opens connections faster than a busy loop accepts them. */
const BACKLOG = 4_096;

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => resolve((server.address() as AddressInfo).port));
  });

const stop = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));

export const serveWorld = async (world: World, options: ServeOptions = {}): Promise<ServedWorld> => {
  const { host = '127.0.0.1', httpPort = 0, httpsPort = 0 } = options;
  const record = createRecorder(world, options.record ?? true);
  const sockets = new Set<Socket>();
  /** Pages that are busy once: the only state of the server, one entry for each such page. */
  const asked = new Set<string>();

  const reply: Conversation['reply'] = (request) => {
    const sheet = world.look(request);
    const response = responseOf(sheet);
    const url = `${request.scheme}://${request.host}${request.path}`;
    if (!sheet.once || asked.has(url)) return { response, proper: !sheet.failing };
    asked.add(url);
    return { response: { ...response, ...sheet.once, body: new Uint8Array(0) }, proper: false };
  };
  const speak =
    (scheme: 'http' | 'https') =>
    (socket: Socket): void =>
      converse(socket, { scheme, slowMs: world.plan.slowMs, note: record.note, reply });
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };

  const hosts = world.sites
    .slice(0, CERTIFICATE_NAMES_MAX)
    .flatMap((site) => site.hosts)
    .slice(0, CERTIFICATE_NAMES_MAX);
  const { key, cert } = selfSigned(hosts);
  const http = createServer(speak('http')).on('connection', track);
  const https = createTlsServer(
    {
      key,
      cert,
      // An error here tears the connection down in the middle of the handshake, which is what a refusing site does.
      SNICallback: (name, done) =>
        world.refusesTls(name.toLowerCase()) ? done(new Error('TLS is refused here')) : done(null),
    },
    speak('https'),
  )
    .on('connection', track)
    .on('tlsClientError', (_, socket) => socket.destroy());

  const close = async (): Promise<void> => {
    const stopped = Promise.all([stop(http), stop(https)]);
    for (const socket of sockets) socket.destroy();
    await stopped;
  };
  const listenBoth = async (): Promise<{ http: number; https: number }> => ({
    http: await listen(http, httpPort, host),
    https: await listen(https, httpsPort, host),
  });
  const ports = await listenBoth().catch(async (fault: unknown) => {
    await close();
    throw fault;
  });
  return {
    httpPort: ports.http,
    httpsPort: ports.https,
    connectTo: [`*:80:${host}:${ports.http}`, `*:443:${host}:${ports.https}`],
    certificate: cert,
    record,
    close,
  };
};
