/** The raw result of one HTTP call. The web's faults are values here, never exceptions. */

export const FAILURES = {
  dns: 'the host name has no address, or the name servers did not answer',
  address: 'the address is private, loopback, link-local or otherwise not public',
  refused: 'the connection was refused or could not be made',
  'connect-timeout': 'no connection within the time allowed',
  tls: 'the TLS handshake failed, or --verify-tls refused the certificate',
  'answer-timeout': 'connected, but the answer did not begin within the time allowed',
  timeout: 'the call did not end within the time allowed and no answer can be kept of it',
  reset: 'the connection ended before the answer was complete',
  'bad-answer': 'what came back is not HTTP, or its head is over the ceiling',
  aborted: 'the crawl was stopped while the call was under way',
} as const;

/** Why a call gave no answer. */
export type FailureCause = keyof typeof FAILURES;

/** Why a body is not whole, in the words of WARC-Truncated. */
export type Truncation = 'length' | 'time' | 'disconnect' | 'unspecified';

/** What a call asks for. */
export const CALL_KINDS = ['page', 'robots', 'sitemap'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/**
 * What a call took, part by part, for those who watch. Null for a part that it did not have, or did not come to the end
 * of.
 */
export interface CallParts {
  readonly lookupMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the request to the first byte of its answer. */
  readonly firstByteMs: number | null;
  /** With the wait for a free socket. */
  readonly totalMs: number;
  /** Bytes of HTTP, without TLS and TCP around them. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Whether a TLS handshake of this call resumed a session; null when there was none. */
  readonly resumed: boolean | null;
}

export interface Answered {
  readonly kind: 'answered';
  readonly url: string;
  /** When the call left, when the first byte of its answer came, when it ended (crawl clock). */
  readonly startedAt: number;
  readonly answeredAt: number;
  readonly endedAt: number;
  /** The address that was dialled. */
  readonly address: string;
  /** The request as it was sent, ending with an empty line. */
  readonly requestHead: string;
  /** The head of the answer as it came (latin1), status line first, ending with an empty line. */
  readonly head: string;
  readonly status: number;
  /** Names in lower case; repeated fields are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came, content-encoded, without chunk framing. Owns its memory. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly truncated: Truncation | null;
  readonly parts?: CallParts;
}

export interface Failed {
  readonly kind: 'failed';
  readonly url: string;
  /** Null when no byte left the machine for this call. */
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly cause: FailureCause;
  /**
   * It says nothing about the site: a connection kept from an earlier call ended before any byte of an
   * answer (the server may have closed it before the request came), the TLS session of an earlier call
   * was offered and the handshake failed, or this machine could not call.
   */
  readonly unsure: boolean;
  /** What the system said, for a person. */
  readonly detail: string;
  readonly parts?: CallParts;
}

export type Exchange = Answered | Failed;
