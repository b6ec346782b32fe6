/** The raw result of one HTTP request. The web's faults are values here, never exceptions. */

import type { FailureCause, TlsVerdict, Truncation } from './failure.ts';
import type { RequestTimes } from './request.ts';

export interface Answered {
  readonly kind: 'answered';
  readonly url: string;
  /** When the request was sent, when the first byte of its response came, when it ended (crawl clock). */
  readonly startedAt: number;
  readonly answeredAt: number;
  readonly endedAt: number;
  /** The address that was dialled. */
  readonly address: string;
  /** The request as it was sent, but for credentials, ending with an empty line. */
  readonly requestHead: string;
  /** The head of the response as it came (latin1), status line first, ending with an empty line. */
  readonly head: string;
  readonly status: number;
  /** Names in lower case; repeated fields are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came, content-encoded, without chunk framing. Owns its memory. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly truncated: Truncation | null;
  /** Not there for a response that came without TLS. */
  readonly tls?: TlsVerdict;
  readonly times?: RequestTimes;
}

export interface Failed {
  readonly kind: 'failed';
  readonly url: string;
  /** Null when no byte left the machine for this request. */
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly cause: FailureCause;
  /**
   * The failure says nothing about the site: a connection kept from an earlier request ended before any byte of a
   * response (the server may have closed it before the request came), the TLS session of an earlier request was
   * offered and the handshake failed, or this machine could not send a request.
   */
  readonly unsure: boolean;
  /** What the system said, for a person. */
  readonly detail: string;
  readonly times?: RequestTimes;
}

export type Exchange = Answered | Failed;
