/**
 * Asks the process that has a crawl open to do something: over a socket in the crawl's directory, in JSON lines, one
 * answer to each request.
 */

import { connect } from 'node:net';
import { openSocketPath } from '../lib/socket-path.ts';
import { UsageError } from '../model/read-settings.ts';
import { FILES } from './folder.ts';

/** What a request may be long: an exclude list of a million sites. */
export const REQUEST_BYTES_MAX = 64 * 1024 ** 2;
/** How long an answer is waited for; a store may be busy. */
const ANSWER_MS = 60_000;
/** An answer is a few lines of a screen. */
const ANSWER_BYTES_MAX = 16 * 1024 ** 2;

/** What a process is asked to do; what else is in it depends on the kind. */
export interface ControlRequest {
  readonly kind: string;
  readonly [name: string]: unknown;
}

export type ControlAnswer =
  | { readonly ok: object }
  /** A sentence; `usage` where the request was wrong and nothing was changed. */
  | { readonly error: string; readonly usage: boolean };

/** A process that was asked could not do it, or nobody knows. */
export class ControlFault extends Error {
  readonly advice: string;
  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

/**
 * Null when no process listens. Rejects with a UsageError when the request was refused, and with a ControlFault when it
 * could not be done.
 */
export const askProcess = async (dir: string, request: ControlRequest): Promise<object | null> => {
  const line = `${JSON.stringify(request)}\n`;
  if (Buffer.byteLength(line) > REQUEST_BYTES_MAX)
    throw new UsageError('this is more than a running crawl can be told at once: stop it, change it, and resume it');
  const text = await exchange(dir, line);
  if (text === null) return null;
  const answer = readAnswer(text);
  if ('ok' in answer) return answer.ok;
  if (answer.usage) throw new UsageError(answer.error);
  throw new ControlFault(answer.error, 'look at the log of the crawl');
};

const readAnswer = (text: string): ControlAnswer => {
  try {
    const answer = JSON.parse(text) as ControlAnswer;
    if (typeof answer === 'object' && ('ok' in answer || 'error' in answer)) return answer;
  } catch {
    // Half an answer.
  }
  return { error: 'the process that has the crawl open ended before it answered', usage: false };
};

/** Nobody listens: there is no socket, or one that a killed process left. */
const UNHEARD: readonly string[] = ['ENOENT', 'ECONNREFUSED'];

const exchange = (dir: string, line: string): Promise<string | null> =>
  new Promise((resolve, reject) => {
    const { path, done } = openSocketPath(dir, FILES.control);
    const socket = connect(path);
    let text = '';
    const end = (settle: () => void): void => {
      done();
      socket.destroy();
      settle();
    };
    socket.setEncoding('utf8').setTimeout(ANSWER_MS);
    socket.on('connect', () => socket.write(line));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n') || text.length > ANSWER_BYTES_MAX) end(() => resolve(text));
    });
    socket.on('end', () => end(() => resolve(text)));
    socket.on('timeout', () => end(() => reject(unanswered())));
    socket.on('error', ({ code = '', message }: NodeJS.ErrnoException) =>
      end(() => (UNHEARD.includes(code) ? resolve(null) : reject(refused(code, message)))),
    );
  });

const unanswered = (): ControlFault =>
  new ControlFault(
    `the process that has the crawl open did not answer for ${ANSWER_MS / 1000}s`,
    'look at its log; what was asked may still happen',
  );

const refused = (code: string, message: string): Error =>
  code === 'EACCES'
    ? new UsageError('the crawl runs as another user: do it as the user who runs it')
    : new ControlFault(`the process that has the crawl open cannot be asked (${message})`, 'look at its log');
