/** A name server for the small web: every name of it has the address of this machine, and no other name exists. */

import { createSocket } from 'node:dgram';

const NAME_PORT = 53;
const ADDRESS = [127, 0, 0, 1];
/** Longer than a run: a crawler that remembers answers asks once for each name. */
const TTL_SECONDS = 300;

const TYPE_A = 1;
const HEAD_BYTES = 12;
/** An answer, with recursion, and no fault (RFC 1035, 4.1.1). */
const FLAGS = 0x8180;
const NO_SUCH_NAME = 3;

/** Answers for as long as this process lives. Names are compared in lower case. */
export const serveNames = async (exists: (name: string) => boolean): Promise<void> => {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const question = readQuestion(query);
    if (question) socket.send(answerTo(query, question, exists(question.name)), from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(NAME_PORT, ADDRESS.join('.'), resolve);
  });
};

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where the question ends; what follows (EDNS) is ignored. */
  readonly end: number;
}

const readQuestion = (query: Buffer): Question | null => {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  if (at + 5 > query.length) return null;
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
};

/** IPv6 addresses, and all that is not an address, are answered with an empty list. */
const answerTo = (query: Buffer, question: Question, exists: boolean): Buffer => {
  const found = exists && question.type === TYPE_A;
  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(FLAGS | (exists ? 0 : NO_SUCH_NAME), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found ? 1 : 0, 6);
  return Buffer.concat([head, query.subarray(HEAD_BYTES, question.end), ...(found ? [RECORD] : [])]);
};

const RECORD = Buffer.alloc(16);
RECORD.writeUInt16BE(0xc00c, 0); // the name of the question
RECORD.writeUInt16BE(TYPE_A, 2);
RECORD.writeUInt16BE(1, 4);
RECORD.writeUInt32BE(TTL_SECONDS, 6);
RECORD.writeUInt16BE(ADDRESS.length, 10);
RECORD.set(ADDRESS, 12);
