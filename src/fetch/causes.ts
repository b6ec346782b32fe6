/** Names for what went wrong with a connection, from what the system said. */

import type { FailureCause } from '../model/failure.ts';

type Fault = NodeJS.ErrnoException | null;

/** TCP itself failed: no handshake was ever begun. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EINVAL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EAFNOSUPPORT',
]);

/** This machine has no descriptor, port, memory or network for the request: no site is to blame. */
const OURS: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'ENETUNREACH',
  'ENETDOWN',
]);

export const isOurs = (fault: Fault): boolean => OURS.has(fault?.code ?? '');

/** Why no connection was made. */
export const connectCause = (fault: Fault, secure: boolean): FailureCause => {
  const code = fault?.code ?? '';
  if (code === 'ETIMEDOUT') return 'connect-timeout';
  return secure && !UNREACHABLE.has(code) ? 'tls' : 'refused';
};

/** Why no response came on a connection that was made. */
export const noResponseCause = (fault: Fault): FailureCause =>
  // In TLS 1.3 a server may refuse us after the handshake has ended on our side.
  fault?.code?.startsWith('ERR_SSL_') ? 'tls' : 'reset';

export const faultDetail = (fault: Fault): string => {
  if (fault === null) return 'the connection was closed';
  return fault.code === undefined ? fault.message : `${fault.code}: ${fault.message}`.slice(0, DETAIL_LENGTH_MAX);
};

/** OpenSSL's messages carry a whole stack; the first words say it. */
const DETAIL_LENGTH_MAX = 200;
