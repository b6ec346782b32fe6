/** Where does the body of this response end? RFC 9112, section 6.3, for responses to GET. */

import type { ResponseHead } from './response-head.ts';

export interface Framing {
  readonly kind: 'none' | 'length' | 'chunked' | 'close';
  /** Bytes of the body when the kind is `length`, otherwise 0. */
  readonly lengthBytes: number;
  /** The connection can serve another request after this response. */
  readonly reusable: boolean;
}

export const frame = (head: ResponseHead): Framing => {
  const { headers, status } = head;
  const reusable = staysOpen(head);
  if (status === 204 || status === 304) return { kind: 'none', lengthBytes: 0, reusable };

  const length = headers['content-length'];
  const coding = lastCoding(headers['transfer-encoding']);
  if (coding === 'chunked') {
    // Both fields at once is how requests are smuggled (RFC 9112, 6.3): read as chunked, then close.
    return { kind: 'chunked', lengthBytes: 0, reusable: reusable && length === undefined && head.persists };
  }
  // A coding we do not know ends only with the connection; `identity` is none.
  if (coding !== '' && coding !== 'identity') return UNTIL_CLOSE;
  if (length === undefined) return UNTIL_CLOSE;
  const lengthBytes = readLength(length);
  return lengthBytes === null ? UNTIL_CLOSE : { kind: 'length', lengthBytes, reusable };
};

const UNTIL_CLOSE: Framing = { kind: 'close', lengthBytes: 0, reusable: false };

const staysOpen = ({ headers, persists }: ResponseHead): boolean => {
  const connection = headers.connection;
  if (connection === undefined) return persists;
  const options = connection
    .toLowerCase()
    .split(',', CONNECTION_OPTIONS_MAX)
    .map((option) => option.trim());
  return !options.includes('close') && (persists || options.includes('keep-alive'));
};

/** A Connection field has one or two options; a hostile one could have thousands. */
const CONNECTION_OPTIONS_MAX = 16;

const lastCoding = (field: string | undefined): string =>
  field === undefined
    ? ''
    : field
        .slice(field.lastIndexOf(',') + 1)
        .trim()
        .toLowerCase();

/** The one length that all values agree on, or null. */
const readLength = (field: string): number | null => {
  if (DIGITS.test(field)) return Number(field);
  const values = new Set(field.split(',').map((value) => value.trim()));
  const [value] = values;
  return values.size === 1 && value !== undefined && DIGITS.test(value) ? Number(value) : null;
};

/** Up to 15 digits are exact in a number, and a petabyte is more than any response has. */
const DIGITS = /^\d{1,15}$/;
