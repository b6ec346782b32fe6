/** One site of a few written pages, for tests that must know every link. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A path with its HTML; or, after an arrow, where it redirects to. */
export type FewPages = Readonly<Record<string, string>>;

export interface ServedPages {
  readonly seed: string;
  readonly connectTo: readonly string[];
  /** Paths in the order they were asked for, robots.txt left out. */
  readonly asked: string[];
  close(): Promise<void>;
}

export const FEW_PAGES_HOST = 'few.example';

export const servePages = async (pages: FewPages): Promise<ServedPages> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(path);
    const page = pages[path];
    if (page === undefined) return void response.writeHead(404).end();
    if (page.startsWith('->')) return void response.writeHead(302, { location: page.slice(2) }).end();
    response.setHeader('content-type', 'text/html').end(page);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    seed: `http://${FEW_PAGES_HOST}/`,
    connectTo: [`*:80:127.0.0.1:${(server.address() as AddressInfo).port}`],
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** A page with a title and links. */
export const htmlOf = (title: string, links: readonly string[] = []): string =>
  `<html lang="en"><title>${title}</title><p>text of ${title}</p>${links.map((link) => `<a href="${link}">${link}</a>`).join('')}</html>`;
