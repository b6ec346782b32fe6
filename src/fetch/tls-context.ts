/** The one TLS context that all requests of a fetcher share: making one costs more than a handshake. */

import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';

/**
 * Without verification nothing is promised about who answers, so old servers are spoken to as
 * well: TLS 1.0 and weak keys, and no root certificates are loaded or chains built. With it,
 * TLS 1.2 is the least.
 */
export const createTlsContext = (verifyTls: boolean): SecureContext =>
  verifyTls
    ? createSecureContext({ minVersion: 'TLSv1.2', ecdhCurve: CURVES })
    : createSecureContext({
        minVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
        ecdhCurve: CURVES,
        secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
        ca: [],
      });

/** The classic curves only: a post-quantum key share makes each hello 1.2 KB larger, for pages that are public. */
const CURVES = 'X25519:P-256:P-384:P-521';
