/** A few sites on one server that answers at once, but for one page of each, which it can hold back. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeldSites {
  /** Every page of every site; the last of each site is the one that is held. */
  readonly pages: readonly string[];
  readonly seeds: readonly string[];
  readonly connectTo: readonly string[];
  /** Pages in the order they were asked for, robots.txt left out. */
  readonly asked: string[];
  /** How many responses are being held back. */
  holding(): number;
  /** From now on everything is answered at once. */
  release(): void;
  close(): Promise<void>;
}

const SITES = 6;
const PAGES_PER_SITE = 6;

export const serveHeldSites = async (sites = SITES, pagesPerSite = PAGES_PER_SITE): Promise<HeldSites> => {
  const hosts = Array.from({ length: sites }, (_, n) => `held-${n}.example`);
  const paths = ['/', ...Array.from({ length: pagesPerSite - 2 }, (_, n) => `/page-${n}`), '/held'];
  const body = paths.map((path) => `<a href="${path}">${path}</a>`).join('\n');
  const asked: string[] = [];
  const held = new Set<ServerResponse>();
  let holds = true;
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    asked.push(`http://${request.headers.host}${request.url}`);
    response.setHeader('content-type', 'text/html');
    if (request.url !== '/held' || !holds) return void response.end(body);
    held.add(response.once('close', () => held.delete(response)));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    pages: hosts.flatMap((host) => paths.map((path) => `http://${host}${path}`)),
    seeds: hosts.map((host) => `http://${host}/`),
    connectTo: [`*:80:127.0.0.1:${(server.address() as AddressInfo).port}`],
    asked,
    holding: () => held.size,
    release: () => {
      holds = false;
      for (const response of held) response.end(body);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
