/** The parse threads as a fetch thread sees them: jobs go to the one with the least to do. */

import type { MessagePort } from 'node:worker_threads';
import type { Parsed, ParseJob } from '../frontier/parts.ts';

export interface ParseRequest {
  readonly id: number;
  readonly job: ParseJob;
}

export interface ParseReply {
  readonly id: number;
  readonly parsed: Parsed;
}

/** One being parsed and one ready, per parse thread and fetch thread; more would only fill memory. */
const JOBS_PER_PARSER = 2;
/** Job numbers fit the heart's 32 bits: the upper ones name the fetch thread. */
const JOB_NUMBERS = 2 ** 23;

export interface ParsePool {
  parse(job: ParseJob): Promise<Parsed>;
  add(name: string, port: MessagePort): void;
  /** A parse thread died while it worked on that job: its jobs are lost. */
  remove(name: string, culprit: number): void;
  /** Jobs that wait for a parse thread. */
  waiting(): number;
  close(): void;
}

interface Parser {
  readonly name: string;
  readonly port: MessagePort;
  readonly jobs: Map<number, (parsed: Parsed) => void>;
}

export const createParsePool = (fetchIndex: number): ParsePool => {
  const parsers: Parser[] = [];
  const line: { job: ParseJob; resolve: (parsed: Parsed) => void }[] = [];
  let counter = 0;
  const nextId = (): number => {
    counter = (counter + 1) % JOB_NUMBERS || 1;
    return fetchIndex * JOB_NUMBERS + counter;
  };

  const pump = (): void => {
    while (line.length > 0) {
      const parser = parsers.reduce<Parser | null>((least, one) => (least && least.jobs.size <= one.jobs.size ? least : one), null);
      if (!parser || parser.jobs.size >= JOBS_PER_PARSER) return;
      const { job, resolve } = line.shift()!;
      const id = nextId();
      parser.jobs.set(id, resolve);
      parser.port.postMessage({ id, job } satisfies ParseRequest, bodiesOf(job));
    }
  };

  return {
    parse: (job) => new Promise((resolve) => {
      line.push({ job, resolve });
      pump();
    }),
    add: (name, port) => {
      const parser: Parser = { name, port, jobs: new Map() };
      parsers.push(parser);
      port.on('message', ({ id, parsed }: ParseReply) => {
        const resolve = parser.jobs.get(id);
        parser.jobs.delete(id);
        resolve?.(parsed);
        pump();
      });
      pump();
    },
    remove: (name, culprit) => {
      const at = parsers.findIndex((one) => one.name === name);
      if (at < 0) return;
      const [parser] = parsers.splice(at, 1);
      parser!.port.close();
      for (const [id, resolve] of parser!.jobs) resolve({ kind: 'lost', culprit: id === culprit });
    },
    waiting: () => line.length,
    close: () => {
      for (const parser of parsers) parser.port.close();
    },
  };
};

/** Bodies are handed over, not copied. */
const bodiesOf = (job: ParseJob): ArrayBuffer[] =>
  [...job.robots, ...(job.page ? [job.page] : [])].flatMap(({ body }) => (body.length > 0 ? [body.buffer] : []));
