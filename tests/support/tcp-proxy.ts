/** A way to a server that a test can cut: as if the process at this end, or the network, had died. */

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections; new ones are refused at once until `mend`. */
  cut(): void;
  mend(): void;
  /** From now on nothing goes through, and no connection ends: as if the machine behind it had lost its power. */
  freeze(): void;
  /** New connections lead to this port from now on; those that are there stay where they are. */
  lead(port: number): void;
  /** So many more connections are let through; those after them are refused. */
  letThrough(more: number): void;
  /** Connections that were refused since it was opened. */
  refused(): number;
  /** The next answer of the server does not arrive: its connection ends instead. Resolves when that has happened. */
  swallowAnswer(): Promise<void>;
  /** It arrives after all, if it has not come yet. */
  spareAnswer(): void;
  close(): Promise<void>;
}

export const openTcpProxy = async (firstPort: number): Promise<TcpProxy> => {
  let serverPort = firstPort;
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let refused = 0;
  let left = Infinity;
  let swallowed: (() => void) | null = null;
  const server = createServer((client) => {
    if (isCut || left-- <= 0) {
      refused++;
      return void client.destroy();
    }
    if (isFrozen) return void sockets.add(client.on('error', () => {}));
    const upstream = connect(serverPort, '127.0.0.1');
    const end = (): void => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => isFrozen || upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (isFrozen) return;
      if (!swallowed) return void client.write(bytes);
      swallowed();
      swallowed = null;
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => void (isCut = false),
    lead: (port) => void (serverPort = port),
    freeze: () => void (isFrozen = true),
    letThrough: (more) => void (left = more),
    refused: () => refused,
    swallowAnswer: () => new Promise((resolve) => (swallowed = resolve)),
    spareAnswer: () => void (swallowed = null),
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => resolve());
      }),
  };
};
