/** A site behind a login, on loopback with TLS, that notes what every request brought along. */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { selfSigned } from '../../src/world/certificate.ts';

export const PASSWORD = 'open-sesame-4711';
export const TOKEN = 'caraway-0815';
export const ORIGIN = 'https://intern.example';
const LOGIN = `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`;

/** What must be found nowhere: the secrets as they were written, and as they are sent. */
export const NEEDLES: readonly string[] = [PASSWORD, TOKEN, LOGIN.slice('Basic '.length)];

export interface Asked {
  readonly url: string;
  /** The login, and the header beside it. */
  readonly secrets: readonly (string | undefined)[];
}

export interface SecretSite {
  readonly asked: readonly Asked[];
  readonly connectTo: readonly string[];
  /** The file with the certificate, for NODE_EXTRA_CA_CERTS. */
  readonly trusted: string;
  /** A file for --credentials; it names the environment variable SITE_TOKEN. */
  readonly credentials: string;
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** The site has so many pages; one of them redirects to another origin, one is plain http, one is its robots.txt. */
export const serveSecretSite = async (home: string, pages: number): Promise<SecretSite> => {
  const asked: Asked[] = [];
  const answer =
    (scheme: string) =>
    ({ url = '', headers }: IncomingMessage, response: ServerResponse): void => {
      const { host = '', authorization, 'x-api-key': apiKey } = headers;
      asked.push({ url: `${scheme}://${host}${url}`, secrets: [authorization, apiKey as string | undefined] });
      if (url === '/robots.txt') return void response.setHeader('content-type', 'text/plain').end('');
      if (url === '/moved') return void response.writeHead(302, { location: 'https://other.example/there' }).end();
      if (host === 'intern.example' && scheme === 'https' && authorization !== LOGIN)
        return void response.writeHead(401, { 'content-type': 'text/html' }).end('<p>log in</p>');
      const links = ['/moved', '/robots.txt', 'http://intern.example/plain', 'https://other.example/linked'];
      for (let page = 1; page < pages; page++) links.push(`/${page}`);
      const html = url === '/' ? links.map((link) => `<a href="${link}">a</a>`).join('') : '<p>a page</p>';
      response.setHeader('content-type', 'text/html').end(html);
    };
  const certificate = selfSigned(['intern.example', 'other.example']);
  const servers = [createHttps(certificate, answer('https')), createHttp(answer('http'))];
  for (const server of servers) await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const [https, http] = servers.map((server) => (server.address() as AddressInfo).port);
  const trusted = join(home, 'trusted.pem');
  writeFileSync(trusted, certificate.cert);
  const credentials = join(home, 'credentials.yaml');
  writeFileSync(credentials, `${ORIGIN}:\n  basic: me:${PASSWORD}\n  header: "X-Api-Key: $SITE_TOKEN"\n`, {
    mode: 0o600,
  });
  return {
    asked,
    connectTo: [`*:443:127.0.0.1:${https}`, `*:80:127.0.0.1:${http}`],
    trusted,
    credentials,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted, SITE_TOKEN: TOKEN },
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
};

/** Whether a request brought what its address should get. */
export const isRight = ({ url, secrets }: Asked): boolean => {
  const { origin, pathname } = new URL(url);
  const expected = origin === ORIGIN && pathname !== '/robots.txt' ? [LOGIN, TOKEN] : [undefined, undefined];
  return secrets.join() === expected.join();
};

/** Files below a folder that hold a secret, as they are or unpacked. */
export const filesWithSecrets = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .filter((path) => {
      const bytes = readFileSync(path);
      return [bytes, unpacked(path, bytes)].some((text) => NEEDLES.some((needle) => text.includes(needle)));
    });

/** What a kill cut short is unpacked as far as it goes. */
const unpacked = (path: string, bytes: Buffer): Buffer => {
  if (bytes.length === 0) return bytes;
  if (path.endsWith('.gz')) return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  return path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes;
};
