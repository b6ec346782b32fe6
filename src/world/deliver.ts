/** Sends one answer down a socket in the way it is to travel, broken ways included. */

import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { Answer } from './sheet.ts';

export interface Delivered {
  readonly status: number;
  /** The answer left whole. */
  readonly whole: boolean;
  /** When it ended, on the monotonic clock. */
  readonly at: number;
  /** Whether the connection can serve another request. */
  readonly kept: boolean;
}

export interface Parcel {
  readonly socket: Socket;
  readonly answer: Answer;
  /** The caller wants the head alone. */
  readonly headOnly: boolean;
  /** Whether the connection is to stay open. */
  readonly keep: boolean;
  readonly slowMs: number;
  /** Called once, unless the caller goes first. */
  readonly done: (delivered: Delivered) => void;
}

/** What a parcel that is under way says when its caller goes. */
export interface UnderWay {
  gone(): Delivered;
}

const DROPS = 8;
/** Odd, so that chunk borders fall inside words and tags. */
const CHUNK_BYTES = 97;
/** Far beyond every sensible --body-max; a caller that reads this far gets the end it never asked for. */
const ENDLESS_BYTES_MAX = 1024 ** 3;
const ENDLESS_BLOCK = Buffer.from('<p>And then the quiet river went on, and on.</p>\n'.repeat(300), 'latin1');
const GARBAGE = Buffer.from('\x00\x01\x02 this is no HTTP at all \xff\xfe\r\n\r\nnor is this\r\n', 'latin1');

const headOf = ({ answer, keep }: Parcel, length: string): string => {
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Odd'}\r\nserver: small-web\r\n`;
  for (const name in answer.headers) head += `${name}: ${answer.headers[name] as string}\r\n`;
  return `${head}${length}\r\n${keep ? '' : 'connection: close\r\n'}\r\n`;
};

const chunksOf = (body: Uint8Array): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    const chunk = body.subarray(at, at + CHUNK_BYTES);
    parts.push(Buffer.from(`${chunk.length.toString(16)};odd=yes\r\n`), Buffer.from(chunk), Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
};

export const deliver = (parcel: Parcel): UnderWay => {
  const { socket, answer, headOnly } = parcel;
  let sentAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = (whole: boolean, kept: boolean): void =>
    parcel.done({ status: answer.status, whole, at: (sentAt = performance.now()), kept });

  const send = (head: string, body: Uint8Array, after: () => void): void => {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body, (fault) => {
      if (fault) return; // the caller has gone, and `gone` has told it
      sentAt = performance.now();
      after();
    });
    socket.uncork();
  };
  const sendPlain = (): void => {
    const body = headOnly ? new Uint8Array(0) : answer.body;
    send(headOf(parcel, `content-length: ${answer.body.length}`), body, () => end(true, parcel.keep));
  };
  const sendDrops = (): void => {
    const step = Math.max(1, Math.ceil(answer.body.length / DROPS));
    let at = 0;
    const drop = (): void => {
      const part = answer.body.subarray(at, at + step);
      at += step;
      const head = at === step ? headOf(parcel, `content-length: ${answer.body.length}`) : '';
      send(head, part, () => {
        if (at >= answer.body.length) end(true, parcel.keep);
        else timer = setTimeout(drop, parcel.slowMs / DROPS);
      });
    };
    drop();
  };
  const sendForEver = (): void => {
    let bytes = 0;
    const more = (): void => {
      bytes += ENDLESS_BLOCK.length;
      if (bytes > ENDLESS_BYTES_MAX) socket.destroy();
      // The callback comes when the kernel has taken it: a caller that reads slowly is not drowned.
      else {
        socket.write(ENDLESS_BLOCK, (fault) => {
          if (fault) return;
          sentAt = performance.now();
          setImmediate(() => socket.destroyed || more());
        });
      }
    };
    send(headOf({ ...parcel, keep: false }, 'content-type: text/html'), answer.body, more);
  };

  switch (headOnly ? 'plain' : answer.delivery) {
    case 'plain':
      sendPlain();
      break;
    case 'chunked':
      send(headOf(parcel, 'transfer-encoding: chunked'), chunksOf(answer.body), () => end(true, parcel.keep));
      break;
    case 'slow':
      timer = setTimeout(sendPlain, parcel.slowMs);
      break;
    case 'drip':
      sendDrops();
      break;
    case 'endless':
      sendForEver();
      break;
    case 'truncate': {
      const half = answer.body.subarray(0, answer.body.length >> 1);
      send(headOf(parcel, `content-length: ${answer.body.length}`), half, () => end(false, false));
      break;
    }
    case 'garbage':
      send('', GARBAGE, () => end(false, false));
      break;
    case 'reset':
      end(false, false);
      break;
    case 'hang':
      break;
  }
  return {
    gone: () => {
      clearTimeout(timer);
      // An endless answer has no other end than this one.
      const whole = answer.delivery === 'endless' && sentAt > 0;
      // What was sent last is the latest moment that the caller surely was still there for.
      return {
        status: sentAt > 0 ? answer.status : 0,
        whole,
        at: sentAt > 0 ? sentAt : performance.now(),
        kept: false,
      };
    },
  };
};
