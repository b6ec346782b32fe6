/** What a person logs in with, and where: from what they wrote to headers for exactly one origin each. */

import { UsageError } from './read-settings.ts';
import { isSendable, nameComplaint, readHeader, valueComplaint, type Header } from './request-headers.ts';

/** What goes to one origin; values are secrets, and are neither stored nor shown. */
export interface OriginCredentials {
  /** `user:password` (RFC 7617). */
  readonly basic?: string;
  /** The token (RFC 6750). */
  readonly bearer?: string;
  /** `a=b; c=d`. */
  readonly cookie?: string;
  /** `X-Api-Key: value`, or several. */
  readonly header?: string | readonly string[];
}

/** By exact https origin, such as `https://intern.example.org`. */
export type Credentials = Readonly<Record<string, OriginCredentials>>;

/** The headers that each origin gets; they live in memory alone. */
export type SecretHeaders = ReadonlyMap<string, readonly Header[]>;

export type CredentialKind = keyof OriginCredentials;

/** What is wrong never quotes the value: it is a secret. */
export type HeaderReading = { readonly header: Header } | { readonly why: string };

/** The header that each kind of credentials makes. */
const READERS: Readonly<Record<CredentialKind, (text: string) => HeaderReading>> = {
  basic: (text) => {
    if (!/^[^:]+:/.test(text)) return { why: 'is no user and password: write user:password' };
    // RFC 7617, 2: no control characters; letters of all languages, as UTF-8.
    if (/\p{Cc}/u.test(text)) return { why: 'has control characters' };
    return headerOf('Authorization', `Basic ${Buffer.from(text).toString('base64')}`);
  },
  bearer: (text) =>
    /^[\w.~+/-]+=*$/.test(text)
      ? headerOf('Authorization', `Bearer ${text}`)
      : { why: 'is no token: write it alone, without the word Bearer' },
  cookie: (text) =>
    isSendable(text) && text.split(';').every((one) => /^ *[^\s=,]+=[^\s]* *$/.test(one))
      ? headerOf('Cookie', text)
      : { why: 'is no list of cookies: write it such as "a=b; c=d"' },
  header: (text) => {
    const header = readHeader(text);
    return header === null ? { why: "is not a header: write 'Name: value', in quotes" } : headerOf(...header);
  },
};

export const CREDENTIAL_KINDS = Object.keys(READERS) as CredentialKind[];

const headerOf = (name: string, value: string): HeaderReading => {
  const why = nameComplaint(name) ?? valueComplaint([name, value]);
  return why === null ? { header: [name, value] } : { why };
};

/** Reads one value, whose kind may be none that there is. */
export const readCredential = (kind: string, text: string): HeaderReading =>
  Object.hasOwn(READERS, kind)
    ? READERS[kind as CredentialKind](text)
    : { why: `is no kind of credentials: there are ${CREDENTIAL_KINDS.join(', ')}` };

/** The origin as requests have it, or what is wrong with it; it may have a password in it, so it is not quoted. */
export const readOrigin = (text: string): { readonly origin: string } | { readonly why: string } => {
  const how = 'write an https origin, such as https://intern.example.org';
  if (!URL.canParse(text)) return { why: `this is no origin: ${how}` };
  const { protocol, origin, href, hostname } = new URL(text);
  if (protocol === 'http:')
    return { why: 'credentials are never sent over http, not even to this machine: write an https origin' };
  if (protocol !== 'https:') return { why: `this is no origin: ${how}` };
  if (hostname.includes('*')) return { why: `credentials are for one host, without a *: ${how}` };
  // More than an origin: a user, a path, a query. The dot of the root names a host that no request has.
  if (href !== `${origin}/` || hostname.endsWith('.')) return { why: `this is more than an origin: ${how}` };
  return { origin };
};

/** Puts the headers of one origin together. */
export const addSecret = (headers: Header[], header: Header): string | null => {
  const [name] = header;
  if (headers.some(([other]) => other.toLowerCase() === name.toLowerCase()))
    return `makes a second ${name} header: give one for each origin`;
  headers.push(header);
  return null;
};

/** Reads the credentials of a program. Throws a UsageError that says where a mistake is, and quotes no value. */
export const readCredentials = (credentials: Credentials): SecretHeaders => {
  const secrets = new Map<string, Header[]>();
  for (const [text, given] of Object.entries(credentials)) {
    const read = readOrigin(text);
    if ('why' in read) throw new UsageError(`credentials: ${read.why}`);
    const { origin } = read;
    if (secrets.has(origin)) throw new UsageError(`credentials: ${origin} is given twice`);
    const headers: Header[] = [];
    for (const [kind, values] of Object.entries(given) as [string, unknown][]) {
      for (const value of Array.isArray(values) ? (values as unknown[]) : [values]) {
        const reading = typeof value === 'string' ? readCredential(kind, value) : { why: 'is not a text' };
        const why = 'why' in reading ? reading.why : addSecret(headers, reading.header);
        if (why !== null) throw new UsageError(`credentials for ${origin}: ${kind} ${why}`);
      }
    }
    secrets.set(origin, headers);
  }
  return secrets;
};
