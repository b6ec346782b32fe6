/**
 * Listens to other processes while a crawl runs: one thread writes the store, so whoever wants to change something
 * hands it to the process that has it (folder/control-client.ts).
 */

import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { StoreFault } from '../contract/fault.ts';
import { REQUEST_BYTES_MAX, type ControlAnswer, type ControlRequest } from '../folder/control-client.ts';
import { FILES } from '../folder/folder.ts';
import { VERSION } from '../folder/version.ts';
import { openSocketPath } from '../lib/socket-path.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Log } from '../observe/log.ts';

/** Who asks at the same time; others are turned away. */
const CLIENTS_MAX = 8;
/** A client that says nothing for so long is left. */
const SILENCE_MS = 10_000;
const NEWLINE = 10;

/** Does what a request of its kind asks for; what it gives is the answer. */
export type Controls = Readonly<Record<string, (request: ControlRequest) => Promise<object>>>;

export interface ControlParts {
  /** Locked by this process: a socket that is there was left by one that died. */
  readonly dir: string;
  readonly controls: Controls;
  readonly log: Log;
  readonly silenceMs?: number;
  readonly requestBytesMax?: number;
}

/** Gives what ends it, and takes the socket away. Where no socket can be made the crawl goes on without. */
export const serveControl = async (parts: ControlParts): Promise<() => Promise<void>> => {
  const { dir, log } = parts;
  const file = join(dir, FILES.control);
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    serve(client, parts);
  });
  server.maxConnections = CLIENTS_MAX;
  try {
    rmSync(file, { force: true });
    await listening(server, dir);
    chmodSync(file, 0o600);
    server.unref();
  } catch (error) {
    log('warn', `other processes cannot change this crawl while it runs: ${(error as Error).message}`);
  }
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const client of clients) client.destroy();
    await closed;
    rmSync(file, { force: true });
  };
};

const listening = (server: Server, dir: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const { path, done } = openSocketPath(dir, FILES.control);
    const end = (settle: () => void) => () => {
      done();
      settle();
    };
    server.once('error', (error) => end(() => reject(error))());
    server.listen(path, end(resolve));
  });

const serve = (client: Socket, parts: ControlParts): void => {
  const { silenceMs = SILENCE_MS, requestBytesMax = REQUEST_BYTES_MAX } = parts;
  let chunks: Buffer[] = [];
  let bytes = 0;
  let working: Promise<void> = Promise.resolve();
  const say = (answer: ControlAnswer): void => void (client.destroyed || client.write(`${JSON.stringify(answer)}\n`));
  const leave = (why: string): void => {
    say({ error: why, usage: true });
    client.destroySoon();
  };
  const take = (line: Buffer): void => {
    client.setTimeout(0); // it waits for us now
    working = working.then(async () => {
      say(await answerOf(line.toString('utf8'), parts.controls));
      client.setTimeout(silenceMs);
    });
  };
  client.setTimeout(silenceMs, () => leave(`nothing was asked for ${silenceMs / 1000}s`));
  client.on('error', () => {}); // it is gone: so is its request
  client.on('end', () => void working.then(() => client.end()));
  client.on('data', (data: Buffer) => {
    let rest = data;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      take(Buffer.concat([...chunks, rest.subarray(0, end)]));
      [chunks, bytes, rest] = [[], 0, rest.subarray(end + 1)];
    }
    chunks.push(rest);
    bytes += rest.length;
    if (bytes > requestBytesMax) leave(`a request has at most ${requestBytesMax} bytes`);
  });
};

const answerOf = async (line: string, controls: Controls): Promise<ControlAnswer> => {
  try {
    const request = readRequest(line);
    const control = Object.hasOwn(controls, request.kind) ? controls[request.kind] : undefined;
    if (!control)
      throw new UsageError(`gossamer ${VERSION}, which has the crawl open, does not know "${request.kind}"`);
    return { ok: await control(request) };
  } catch (error) {
    const { message } = error as Error;
    const advice = error instanceof StoreFault ? `: ${error.advice}` : '';
    return { error: `${message}${advice}`, usage: error instanceof UsageError };
  }
};

const readRequest = (line: string): ControlRequest => {
  let request: unknown = null;
  try {
    request = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (typeof request === 'object' && request !== null && typeof (request as ControlRequest).kind === 'string')
    return request as ControlRequest;
  throw new UsageError('a request is one line of JSON, an object with a kind');
};
