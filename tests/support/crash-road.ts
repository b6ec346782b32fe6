/** A long road to a server: every answer takes its time, so that a hit meets visits under way. */

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Road {
  readonly port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** A text in what is asked is replaced by one of the same length: so a server sees who came by this road. */
export interface RoadMark {
  readonly from: string;
  readonly to: string;
}

/** What is asked arrives at once, what is answered this much later; both in order. */
export const openRoad = async (port: number, latencyMs: number, mark?: RoadMark): Promise<Road> => {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const far = keep(connect(port, HOST));
    let reset = false;
    keep(client);
    if (!mark) client.pipe(far);
    else {
      client.on('data', (bytes) => far.write(bytes.toString('latin1').replaceAll(mark.from, mark.to), 'latin1'));
      client.once('end', () => far.end());
    }
    client.once('close', () => far.destroy()); // a client that is killed is gone for the server too
    far.on('error', () => (reset = true));
    far.on('data', (bytes) => void setTimeout(() => client.writable && client.write(bytes), latencyMs));
    far.once('close', () => void setTimeout(() => (reset ? client.resetAndDestroy() : client.end()), latencyMs));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

/** The values of `--connect-to` that lead over these roads. */
export const overRoads = ([http, https]: readonly [Road, Road]): string[] => [
  `*:80:${HOST}:${http.port}`,
  `*:443:${HOST}:${https.port}`,
];
