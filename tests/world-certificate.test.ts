/** The certificate that the small web makes for itself is one that TLS accepts. */

import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect as tlsConnect, createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '../src/world/certificate.ts';

describe('the certificate', () => {
  test('a client that trusts it can verify a listed name, and no other', async () => {
    const { key, cert } = selfSigned(['rose.test', '*.fern.test']);
    const server = createTlsServer({ key, cert }, (socket) => socket.end('hello')).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => {});
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const greet = (servername: string, verify: boolean): Promise<string> =>
      new Promise((resolve) => {
        let got = '';
        const socket = tlsConnect({
          host: '127.0.0.1',
          port,
          servername,
          rejectUnauthorized: verify,
          ...(verify ? { ca: cert } : {}),
        });
        socket.setEncoding('utf8').on('data', (part: string) => (got += part));
        socket
          .on('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message))
          .on('end', () => socket.end(() => resolve(got)));
      });
    try {
      assert.equal(await greet('anything.example', false), 'hello');
      assert.equal(await greet('rose.test', true), 'hello');
      assert.equal(await greet('blog.fern.test', true), 'hello');
      assert.equal(await greet('thistle.test', true), 'ERR_TLS_CERT_ALTNAME_INVALID');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('it is signed by its own key and valid for years around now', () => {
    const parsed = new X509Certificate(selfSigned(['rose.test']).cert);
    assert.ok(parsed.verify(parsed.publicKey));
    const years = (parsed.validToDate.getTime() - parsed.validFromDate.getTime()) / (365 * 86_400_000);
    assert.equal(Math.round(years), 10);
    assert.equal(parsed.subjectAltName, 'DNS:rose.test');
  });
});
