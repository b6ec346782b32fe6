/** The names of what goes wrong between a request and its response. */

export const FAILURES = {
  'no-name': 'the host name does not exist, or has no address',
  dns: 'the name servers did not answer, or could not',
  address: 'the address is private, loopback, link-local or otherwise not public, or the port is never called',
  refused: 'the connection was refused or could not be made',
  'connect-timeout': 'no connection within the time allowed',
  tls: 'the TLS handshake failed, or --verify-tls or --credentials refused the certificate',
  'response-timeout': 'connected, but the response did not begin within the time allowed',
  timeout: 'the request did not end within the time allowed, and nothing of its response can be kept',
  reset: 'the connection ended before the response was complete',
  'bad-response': 'what came back is not HTTP, or its head is over the ceiling',
  aborted: 'the crawl was stopped while the request was under way',
} as const;

/** Why a request got no response. */
export type FailureCause = keyof typeof FAILURES;

/** Why a body is not whole, in the words of WARC-Truncated. */
export type Truncation = 'length' | 'time' | 'disconnect' | 'unspecified';

/** What is known of who answered over TLS: nothing, or that the certificate is right. */
export type TlsVerdict = 'unverified' | 'verified';
