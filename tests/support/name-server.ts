/** A DNS server on loopback that answers from a table. */

import { createSocket } from 'node:dgram';

export type Zone = Readonly<
  Record<
    string,
    {
      readonly a?: readonly string[];
      /** Full form: eight groups of four digits, without `::`. */
      readonly aaaa?: readonly string[];
      readonly ttl?: number;
      /** 2: server failure, 3: no such name. */
      readonly code?: number;
      readonly silent?: boolean;
    }
  >
>;

export interface NameServer {
  readonly address: string;
  /** `A example.test` for every question. */
  readonly questions: string[];
  close(): Promise<void>;
}

export const startNameServer = async (zone: Zone): Promise<NameServer> => {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${type === 28 ? 'AAAA' : 'A'} ${name}`);
    const entry = zone[name] ?? { code: 3 };
    if (entry.silent) return;
    const records = (type === 28 ? (entry.aaaa ?? []).map(ipv6Bytes) : (entry.a ?? []).map(ipv4Bytes)).map((address) =>
      record(type, entry.ttl ?? 60, address),
    );
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (entry.code ?? 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
};

const readQuestion = (query: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
};

const record = (type: number, ttl: number, address: Buffer): Buffer => {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0); // the name of the question
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, address]);
};

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number));
const ipv6Bytes = (address: string): Buffer => Buffer.from(address.replaceAll(':', ''), 'hex');
