/** Asks the small web for one address, and tells what came back. */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ServedWorld } from '../../src/world/serve.ts';

const BYTES_MAX = 4 * 1024 ** 2;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Empty when the response came whole. */
  readonly fault: string;
}

/** One request on a fresh connection; an endless body is read up to a limit, a silent server is waited for. */
export const requestWorld = (address: string, server: ServedWorld): Promise<Reply> =>
  new Promise((resolve) => {
    const url = new URL(address);
    const secure = url.protocol === 'https:';
    const parts: Buffer[] = [];
    let bytes = 0;
    let reply: Reply = { status: 0, headers: {}, body: Buffer.alloc(0), fault: 'no response' };
    const end = (fault: string): void => {
      request.destroy();
      resolve({ ...reply, body: Buffer.concat(parts), fault });
    };
    const request = (secure ? httpsRequest : httpRequest)(
      {
        host: '127.0.0.1',
        port: secure ? server.httpsPort : server.httpPort,
        path: url.pathname + url.search,
        headers: { host: url.host, 'user-agent': 'test' },
        servername: url.hostname,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        reply = { ...reply, status: response.statusCode ?? 0, headers: response.headers };
        response.on('data', (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes > BYTES_MAX) end('cut');
        });
        response.on('end', () => end(response.complete ? '' : 'incomplete'));
        response.on('error', (fault: NodeJS.ErrnoException) => end(fault.code ?? fault.message));
      },
    );
    request.on('error', (fault: NodeJS.ErrnoException) => end(fault.code ?? fault.message));
    request.end();
  });
