/** A door to a server that can be led to another one, and shut to one process, as a network that is cut does it. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Door {
  readonly port: number;
  /** All connections end; new ones lead to this port of loopback. */
  leadTo(port: number): void;
  /** Nothing passes any more to or from this process of this machine, and nobody is told. */
  shut(pid: number): void;
  /** What waited at the door passes. */
  open(): void;
  close(): Promise<void>;
}

/** `host` is where it listens; the server is on loopback. */
export const openDoor = async (host: string, serverPort: number): Promise<Door> => {
  const pairs = new Map<Socket, Socket>();
  let target = serverPort;
  let shutTo: number | null = null;
  const waiting = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    pairs.set(client, upstream);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('data', (bytes) => {
        if (!other.write(bytes)) one.pause();
      });
      one.on('drain', () => waiting.has(client) || other.resume());
      one.on('error', () => {});
      one.on('close', () => {
        pairs.delete(client);
        waiting.delete(client);
        other.destroy();
      });
    }
    if (shutTo !== null) hold([client], shutTo);
  });
  /** Those of that process wait. */
  const hold = (clients: Iterable<Socket>, pid: number): void => {
    const ports = portsOf(pid);
    for (const client of clients) {
      if (!ports.has(client.remotePort ?? 0)) continue;
      waiting.add(client);
      for (const socket of [client, pairs.get(client)]) socket?.pause();
    }
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const end = (): void => pairs.forEach((upstream, client) => [upstream, client].forEach((socket) => socket.destroy()));
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port;
      end();
    },
    shut: (pid) => {
      shutTo = pid;
      hold(pairs.keys(), pid);
    },
    open: () => {
      shutTo = null;
      for (const client of waiting) for (const socket of [client, pairs.get(client)]) socket?.resume();
      waiting.clear();
    },
    close: () =>
      new Promise((resolve) => {
        end();
        server.close(() => resolve());
      }),
  };
};

/** The ports of this machine that connections of a process begin at. */
const portsOf = (pid: number): ReadonlySet<number> => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return []; // it was closed just now
      }
    }),
  );
  // Fields of a line: its number, its own address as HEX:PORT, ... and as the tenth the number of the socket.
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return new Set(
    lines.filter((fields) => sockets.has(fields[9] ?? '')).map((fields) => parseInt(fields[1]!.split(':')[1]!, 16)),
  );
};
