/** The parse threads as a fetch thread sees them: jobs go to the one with the least to do. */

import type { MessagePort } from 'node:worker_threads';
import type { Parsed, ParseJob } from '../visit/parts.ts';
import type { RobotsJob, RobotsRead } from './robots-reader.ts';

/** What a parse thread is asked to do. */
export type PoolJob = ParseJob | RobotsJob;

/** What came of a job, which may also be lost. */
type Done = Parsed | RobotsRead;

/** The result of a job. A visit has one thing at a time parsed or read, so its lease names the job. */
export interface ParseReply {
  readonly lease: number;
  readonly done: Done;
}

/** One being parsed and one ready, per parse thread and fetch thread; more would only fill memory. */
const JOBS_PER_PARSER = 2;

export interface ParsePool {
  parse(job: ParseJob): Promise<Parsed>;
  readRobots(job: RobotsJob): Promise<RobotsRead>;
  add(name: string, port: MessagePort): void;
  /** A parse thread died while it worked on the job of that lease: its jobs are lost. */
  remove(name: string, culprit: number): void;
  /** The crawl stops: no dead parse thread will be replaced, so without one left no job waits for it. */
  expectNoMore(): void;
  /** Jobs that wait for a parse thread. */
  waiting(): number;
  /** Jobs that wait for a parse thread, and those that parse threads have. */
  backlog(): number;
  close(): void;
}

interface Parser {
  readonly name: string;
  readonly port: MessagePort;
  readonly jobs: Map<number, (done: Done) => void>;
}

/** `onWait` is told of each job that finds no parse thread free. */
export const createParsePool = (onWait: () => void = () => {}): ParsePool => {
  const parsers: Parser[] = [];
  let last = false;
  const queue: { job: PoolJob; resolve: (done: Done) => void }[] = [];

  const pump = (): void => {
    if (last && parsers.length === 0)
      for (const { resolve } of queue.splice(0)) resolve({ kind: 'lost', culprit: false });
    while (queue.length > 0) {
      const parser = parsers.reduce<Parser | null>(
        (least, one) => (least && least.jobs.size <= one.jobs.size ? least : one),
        null,
      );
      if (!parser || parser.jobs.size >= JOBS_PER_PARSER) return;
      const { job, resolve } = queue.shift()!;
      parser.jobs.set(job.lease, resolve);
      if (isRobotsJob(job)) parser.port.postMessage(job satisfies PoolJob);
      else parser.port.postMessage(job satisfies PoolJob, bodiesOf(job));
    }
  };

  const enqueue = (job: PoolJob): Promise<Done> =>
    new Promise((resolve) => {
      queue.push({ job, resolve });
      pump();
      if (queue.length > 0) onWait(); // the last in the queue is this one
    });

  return {
    // Each kind of job has results of its own kind, or is lost.
    parse: (job) => enqueue(job) as Promise<Parsed>,
    readRobots: (job) => enqueue(job) as Promise<RobotsRead>,
    add: (name, port) => {
      const parser: Parser = { name, port, jobs: new Map() };
      parsers.push(parser);
      port.on('message', ({ lease, done }: ParseReply) => {
        const resolve = parser.jobs.get(lease);
        parser.jobs.delete(lease);
        resolve?.(done);
        pump();
      });
      pump();
    },
    remove: (name, culprit) => {
      const at = parsers.findIndex((one) => one.name === name);
      if (at < 0) return;
      const [parser] = parsers.splice(at, 1);
      parser!.port.close();
      for (const [lease, resolve] of parser!.jobs) resolve({ kind: 'lost', culprit: lease === culprit });
      pump();
    },
    expectNoMore: () => {
      last = true;
      pump();
    },
    waiting: () => queue.length,
    backlog: () => parsers.reduce((sum, { jobs }) => sum + jobs.size, queue.length),
    close: () => {
      for (const parser of parsers) parser.port.close();
    },
  };
};

export const isRobotsJob = (job: PoolJob): job is RobotsJob => 'kind' in job;

/** Bodies are handed over, not copied; that of a robots.txt is still needed, for the archive. */
const bodiesOf = (job: ParseJob): ArrayBuffer[] =>
  [...job.robots, ...(job.page ? [job.page] : [])].flatMap(({ body }) => (body.length > 0 ? [body.buffer] : []));
