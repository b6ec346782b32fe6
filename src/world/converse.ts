/** One connection: reads requests, one after the other, and has each answered. */

import type { Socket } from 'node:net';
import type { Response, Request } from './sheet.ts';
import type { Noted } from './record.ts';
import type { UnderWay } from './deliver.ts';
import { deliver } from './deliver.ts';

export interface Conversation {
  readonly scheme: 'http' | 'https';
  readonly slowMs: number;
  note(request: Request, userAgent: string): Noted;
  /** What to say, and whether that is a proper response or only a fault. */
  reply(request: Request): { readonly response: Response; readonly proper: boolean };
}

/** Room for a URL of 2,000 characters and any sensible headers. */
const HEAD_CHARACTERS_MAX = 32_768;
/** Longer than any crawl keeps a connection, so that the server is never the first to close. */
const IDLE_MS_MAX = 300_000;

interface Read {
  readonly request: Request;
  readonly userAgent: string;
  readonly headOnly: boolean;
  readonly keep: boolean;
}

const HEAD_LINE = /^(GET|HEAD) (\S+) HTTP\/1\.([01])$/;

const field = (head: string, name: RegExp): string => name.exec(head)?.[1]?.trim() ?? '';

/** Null when it is no request that the small web knows. */
const readHead = (head: string, scheme: 'http' | 'https'): Read | null => {
  const end = head.indexOf('\r\n');
  const line = HEAD_LINE.exec(end < 0 ? head : head.slice(0, end));
  if (!line) return null;
  const host = field(head, /\r\nhost:([^\r]*)/i)
    .toLowerCase()
    .replace(/:\d+$/, '');
  const connection = field(head, /\r\nconnection:([^\r]*)/i).toLowerCase();
  return {
    request: { scheme, host, path: line[2] as string },
    userAgent: field(head, /\r\nuser-agent:([^\r]*)/i),
    headOnly: line[1] === 'HEAD',
    keep: line[3] === '1' ? !connection.includes('close') : connection.includes('keep-alive'),
  };
};

export const converse = (socket: Socket, { scheme, slowMs, note, reply }: Conversation): void => {
  let text = '';
  let current: { readonly underWay: UnderWay | null; readonly noted: Noted; readonly proper: boolean } | null = null;

  const finish = (kept: boolean, reset: boolean): void => {
    current = null;
    if (kept) return next();
    // TLS knows no reset of its own: there the socket is only torn down.
    if (reset && scheme === 'http') socket.resetAndDestroy();
    else if (reset) socket.destroy();
    else socket.end();
  };

  const next = (): void => {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || current) {
      if (text.length > HEAD_CHARACTERS_MAX) socket.destroy();
      return;
    }
    const read = readHead(text.slice(0, end), scheme);
    text = text.slice(end + 4);
    if (!read) {
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    const noted = note(read.request, read.userAgent);
    const { response, proper } = reply(read.request);
    let early = false;
    current = { underWay: null, noted, proper };
    const underWay = deliver({
      socket,
      response,
      headOnly: read.headOnly,
      keep: read.keep,
      slowMs,
      done: ({ kept, whole, ...ended }) => {
        early = true;
        noted.ended({ ...ended, whole: whole && proper });
        finish(kept, response.delivery === 'reset');
      },
    });
    if (!early) current = { underWay, noted, proper };
  };

  socket.setNoDelay(true);
  socket.setTimeout(IDLE_MS_MAX, () => socket.destroy());
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    next();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    const end = current?.underWay?.gone();
    if (end) current?.noted.ended({ ...end, whole: end.whole && (current?.proper ?? false) });
    current = null;
  });
};
