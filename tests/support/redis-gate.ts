/**
 * A door between a store and its Redis, that lets pass what a test wants: so a crash can be planted between any two
 * steps.
 */

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface RedisGate {
  readonly url: string;
  /** The server that is behind it, for connections from now on. */
  port: number;
  /** How many more commands reach the server; the others are swallowed. */
  commands: number;
  /** Whether its answers come back. */
  answers: boolean;
  /** The last command that reaches the server gets no answer. */
  lastUnanswered: boolean;
  /** Commands that were swallowed, and answers, since it was opened. */
  swallowed: number;
  /** A command was swallowed, or an answer. */
  onSwallowed: (() => void) | null;
  /** Ends all connections, as a network that fails does. */
  cut(): void;
  close(): Promise<void>;
}

export const openGate = async (serverPort: number): Promise<RedisGate> => {
  const sockets = new Set<Socket>();
  const swallow = (): void => {
    gate.swallowed += 1;
    gate.onSwallowed?.();
  };
  const server = createServer((client) => {
    const redis = connect(gate.port, '127.0.0.1');
    let rest = Buffer.alloc(0);
    client.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = commandEnd(rest); end > 0; end = commandEnd(rest)) {
        if (gate.commands > 0) {
          gate.commands -= 1;
          if (gate.commands === 0 && gate.lastUnanswered) gate.answers = false;
          redis.write(rest.subarray(0, end));
        } else swallow();
        rest = rest.subarray(end);
      }
    });
    redis.on('data', (bytes: Buffer) => {
      if (gate.answers) client.write(bytes);
      else swallow();
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.setNoDelay(true); // or an answer waits for what is sent next
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate: RedisGate = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port: serverPort,
    commands: Infinity,
    answers: true,
    lastUnanswered: false,
    swallowed: 0,
    onSwallowed: null,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: async () => {
      gate.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return gate;
};

/** Where the first whole command ends: `*n`, then n times `$length` and that many bytes. 0 when it is not all there. */
const commandEnd = (bytes: Buffer): number => {
  let at = bytes.indexOf('\r\n') + 2;
  if (at < 2) return 0;
  for (let left = Number(bytes.toString('latin1', 1, at - 2)); left > 0; left--) {
    const lengthEnds = bytes.indexOf('\r\n', at);
    if (lengthEnds < 0) return 0;
    at = lengthEnds + 2 + Number(bytes.toString('latin1', at + 1, lengthEnds)) + 2;
    if (at > bytes.length) return 0;
  }
  return at;
};
