/** The request as it is sent, and as it is kept. */

import type { SecretHeaders } from '../model/credentials.ts';
import type { RequestKind } from '../model/request.ts';
import type { Header } from '../model/request-headers.ts';

/**
 * The headers that a person adds to a request. It gives the same list, not a copy, for all requests that have the same
 * headers: what follows from a list is then composed once.
 */
export type HeadersFor = (url: URL) => readonly Header[];

export interface RequestHeadParts {
  /** The whole value of the User-Agent field. */
  readonly userAgent: string;
  /** The contact, for the From field. */
  readonly from: string;
  /** Languages in order of preference; without it nothing is said of them. */
  readonly acceptLanguage?: string | undefined;
  readonly headersFor?: HeadersFor | undefined;
  /** What goes to an origin and is not kept: with its pages and sitemaps, never with robots.txt. */
  readonly credentials?: SecretHeaders | undefined;
}

interface RequestTails {
  readonly keep: string;
  readonly close: string;
}

export interface RequestHead {
  readonly sent: string;
  /** As it may be archived: without credentials. */
  readonly kept: string;
}

/** Without a kind no credentials are sent. */
export type RequestHeads = (url: URL, keep: boolean, kind?: RequestKind) => RequestHead;

const NO_HEADERS: readonly Header[] = [];

/** Composes the heads of all requests. Throws when a value could break out of its field. */
export const createRequestHeads = (parts: RequestHeadParts): RequestHeads => {
  const { userAgent, from, acceptLanguage = '', headersFor = () => NO_HEADERS, credentials = [] } = parts;
  const fields =
    field('User-Agent', userAgent) +
    field('From', from) +
    field('Accept', 'text/html,application/xhtml+xml,text/plain;q=0.9,application/xml;q=0.8,*/*;q=0.5') +
    field('Accept-Encoding', 'gzip, deflate, br') +
    (acceptLanguage === '' ? '' : field('Accept-Language', acceptLanguage));
  // By list, not by origin: there are as many lists as a person has written, and any number of origins.
  const known = new WeakMap<readonly Header[], RequestTails>();
  const tailsOf = (headers: readonly Header[]): RequestTails => {
    const made = known.get(headers);
    if (made !== undefined) return made;
    const all = fields + linesOf(headers);
    const tails = { keep: `${all}Connection: keep-alive\r\n\r\n`, close: `${all}Connection: close\r\n\r\n` };
    known.set(headers, tails);
    return tails;
  };
  const secrets = new Map([...credentials].map(([origin, headers]) => [origin, linesOf(headers)]));
  const secretOf = (url: URL, kind: RequestKind | undefined): string =>
    secrets.size === 0 || kind === undefined || kind === 'robots' || url.pathname === '/robots.txt'
      ? ''
      : (secrets.get(url.origin) ?? '');
  return (url, keep, kind) => {
    const tails = tailsOf(headersFor(url));
    const tail = keep ? tails.keep : tails.close;
    // A parsed URL holds no space, control or non-ASCII character in its path and host, so nothing can be injected.
    const start = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`;
    const kept = start + tail;
    const secret = secretOf(url, kind);
    return { sent: secret === '' ? kept : start + secret + tail, kept };
  };
};

const linesOf = (headers: readonly Header[]): string => headers.map(([name, value]) => field(name, value)).join('');

const field = (name: string, value: string): string => {
  if (/^[\x20-\x7e\xa0-\xff]*$/.test(value)) return `${name}: ${value}\r\n`;
  throw new Error(`the value of ${name} cannot be sent in a header; use printable latin letters`);
};
