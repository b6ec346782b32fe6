/** A port of loopback that nobody listens on, and that a URL may have. */

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { blockedService } from '../../src/model/blocked-ports.ts';

/**
 * Below the ports that systems give to outgoing connections (from 32768 on in Linux, from 49152 on elsewhere): while a
 * server is down, no connection of anybody takes its port, not even one that looks whether it is back.
 */
const PORTS = { from: 10_000, to: 32_000 };

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (blockedService(port) === null && (await isFree(port))) return port;
  }
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
