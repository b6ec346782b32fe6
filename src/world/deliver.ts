/** Sends one response down a socket in the way it is to travel, broken ways included. */

import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { Response } from './sheet.ts';

export interface Delivered {
  readonly status: number;
  /** The response was sent whole. */
  readonly whole: boolean;
  /** When it ended, on the monotonic clock. */
  readonly at: number;
  /** Whether the connection can serve another request. */
  readonly kept: boolean;
}

export interface Parcel {
  readonly socket: Socket;
  readonly response: Response;
  /** The client wants the head alone. */
  readonly headOnly: boolean;
  /** Whether the connection is to stay open. */
  readonly keep: boolean;
  readonly slowMs: number;
  /** Called once, unless the client goes first. */
  readonly done: (delivered: Delivered) => void;
}

/** What a parcel that is under way says when its client goes. */
export interface UnderWay {
  gone(): Delivered;
}

const DROPS = 8;
/** Odd, so that chunk borders fall inside words and tags. */
const CHUNK_BYTES = 97;
/** Far beyond every sensible --body-max; a client that reads this far gets the end it never asked for. */
const ENDLESS_BYTES_MAX = 1024 ** 3;
const ENDLESS_BLOCK = Buffer.from('<p>And then the quiet river went on, and on.</p>\n'.repeat(300), 'latin1');
const GARBAGE = Buffer.from('\x00\x01\x02 this is no HTTP at all \xff\xfe\r\n\r\nnor is this\r\n', 'latin1');

const headOf = ({ response, keep }: Parcel, length: string): string => {
  let head = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Odd'}\r\nserver: small-web\r\n`;
  for (const name in response.headers) head += `${name}: ${response.headers[name] as string}\r\n`;
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
  const { socket, response, headOnly } = parcel;
  let sentAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = (whole: boolean, kept: boolean): void =>
    parcel.done({ status: response.status, whole, at: (sentAt = performance.now()), kept });

  const send = (head: string, body: Uint8Array, after: () => void): void => {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body, (fault) => {
      if (fault) return; // the client has gone, and `gone` has told it
      sentAt = performance.now();
      after();
    });
    socket.uncork();
  };
  const sendPlain = (): void => {
    const body = headOnly ? new Uint8Array(0) : response.body;
    send(headOf(parcel, `content-length: ${response.body.length}`), body, () => end(true, parcel.keep));
  };
  const sendDrops = (): void => {
    const step = Math.max(1, Math.ceil(response.body.length / DROPS));
    let at = 0;
    const drop = (): void => {
      const part = response.body.subarray(at, at + step);
      at += step;
      const head = at === step ? headOf(parcel, `content-length: ${response.body.length}`) : '';
      send(head, part, () => {
        if (at >= response.body.length) end(true, parcel.keep);
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
      // The callback comes when the kernel has taken it: a client that reads slowly is not drowned.
      else {
        socket.write(ENDLESS_BLOCK, (fault) => {
          if (fault) return;
          sentAt = performance.now();
          setImmediate(() => socket.destroyed || more());
        });
      }
    };
    send(headOf({ ...parcel, keep: false }, 'content-type: text/html'), response.body, more);
  };

  switch (headOnly ? 'plain' : response.delivery) {
    case 'plain':
      sendPlain();
      break;
    case 'chunked':
      send(headOf(parcel, 'transfer-encoding: chunked'), chunksOf(response.body), () => end(true, parcel.keep));
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
      const half = response.body.subarray(0, response.body.length >> 1);
      send(headOf(parcel, `content-length: ${response.body.length}`), half, () => end(false, false));
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
      // An endless response has no other end than this one.
      const whole = response.delivery === 'endless' && sentAt > 0;
      // What was sent last is the latest moment that the client surely was still there for.
      return {
        status: sentAt > 0 ? response.status : 0,
        whole,
        at: sentAt > 0 ? sentAt : performance.now(),
        kept: false,
      };
    },
  };
};
