/** Our reading of responses against that of node:http: the same bytes of one raw server to both. */

import { get } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createFetcher, type Fetcher } from '../../src/fetch/fetcher.ts';
import { createClock } from '../../src/lib/clock.ts';
import type { Chance } from '../../tests/support/broken-pages.ts';
import type { Comparison } from './comparison.ts';
import { makeResponse } from './responses.ts';

/** Latin1; headers with names in lower case, repeated ones joined. Null for a response that was refused. */
interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly whole: boolean;
}

const TIMEOUT_MS = 5_000;

export const openHttpComparison = async (): Promise<Comparison> => {
  let sent = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(sent, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fetcher = createFetcher({
    clock: createClock(),
    userAgent: 'fuzz',
    from: 'fuzz@example.org',
    socketsMax: 4,
    bodyMemoryBytes: 1024 ** 2,
    connectTimeoutMs: TIMEOUT_MS,
    responseTimeoutMs: TIMEOUT_MS,
    totalTimeoutMs: TIMEOUT_MS,
    verifyTls: false,
    allowPrivateAddresses: true,
    connectTo: [],
  });
  const url = `http://127.0.0.1:${port}/`;
  return {
    name: 'header',
    against: 'node:http',
    try: async (chance: Chance) => {
      sent = makeResponse(chance);
      const [ours, theirs] = await Promise.all([byUs(fetcher, url), byNode(url)]);
      const judged = judge(ours, theirs);
      return {
        verdict: judged === null ? 'agreed' : judged.known ? 'known' : 'differs',
        input: sent,
        says: judged?.says ?? '',
      };
    },
    close: async () => {
      await fetcher.close();
      await closed(server);
    },
  };
};

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const byUs = async (fetcher: Fetcher, url: string): Promise<Response | null> => {
  const exchange = await fetcher.fetch({ url, bodyBytesMax: 1024 ** 2, wantsBody: () => true, keepMs: 0 });
  fetcher.forget(exchange);
  if (exchange.kind === 'failed') return null;
  const { status, headers, body, truncated } = exchange;
  return { status, headers: { ...headers }, body: Buffer.from(body).toString('latin1'), whole: truncated === null };
};

const byNode = (url: string): Promise<Response | null> =>
  new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: TIMEOUT_MS }, (response) => {
      const pieces: Buffer[] = [];
      const headers: Record<string, string> = Object.create(null) as Record<string, string>;
      for (let i = 0; i < response.rawHeaders.length; i += 2) {
        const name = response.rawHeaders[i]!.toLowerCase();
        const value = response.rawHeaders[i + 1]!;
        // As we do: a second Location counts for nothing.
        if (headers[name] === undefined) headers[name] = value;
        else if (name !== 'location') headers[name] += `, ${value}`;
      }
      const done = (whole: boolean): void =>
        resolve({
          status: response.statusCode!,
          headers: { ...headers },
          body: Buffer.concat(pieces).toString('latin1'),
          whole,
        });
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () => done(response.complete));
      response.once('error', () => done(false));
    });
    request.once('error', () => resolve(null));
  });

/** We read more than node:http does, as browsers do; but what it reads, we must read, and in the same way. */
const judge = (ours: Response | null, theirs: Response | null): { says: string; known: boolean } | null => {
  if (theirs === null) return ours === null ? null : { says: `only we take it, as ${ours.status}`, known: true };
  // Not a status of HTTP (RFC 9110, 15), and no browser takes it.
  if (theirs.status < 100 && ours === null) return { says: `status ${theirs.status}`, known: true };
  if (ours === null) return { says: `only node:http takes it, as ${theirs.status}`, known: false };
  if (ours.status !== theirs.status) return differ('status', ours.status, theirs.status);
  // What is not whole to one of them ends at different bytes.
  if (theirs.whole && ours.body !== theirs.body) return differ('body', ours.body, theirs.body);
  if (ours.whole && !theirs.whole) return { says: 'whole to us, and cut to node:http', known: true };
  if (theirs.whole && !ours.whole) return { says: 'whole to node:http, and cut to us', known: false };
  for (const name of new Set([...Object.keys(ours.headers), ...Object.keys(theirs.headers)]))
    if (ours.headers[name] !== theirs.headers[name])
      return differ(`field ${name}`, ours.headers[name], theirs.headers[name]);
  return null;
};

const SHOWN_CHARS_MAX = 80;

const differ = (what: string, ours: unknown, theirs: unknown): { says: string; known: boolean } => {
  const shown = (value: unknown): string => (JSON.stringify(value) ?? 'none').slice(0, SHOWN_CHARS_MAX);
  return { says: `${what}: ${shown(ours)} to us, ${shown(theirs)} to node:http`, known: false };
};
