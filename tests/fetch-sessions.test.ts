/** TLS sessions: resumed where a host allows it, never more of them than fit, and never in the way. */

import assert from 'node:assert/strict';
import { constants } from 'node:crypto';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { createTlsSessions } from '../src/fetch/tls-sessions.ts';
import type { Fetcher } from '../src/fetch/fetcher.ts';
import { answered, failed, onLoopback, requestFor } from './support/loopback.ts';
import { selfSigned } from './support/self-signed.ts';

const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const certificate = selfSigned('secure.test');

const resumedAt = async (fetcher: Fetcher, url: string): Promise<boolean | null | undefined> =>
  answered(await fetcher.fetch(requestFor(url))).times?.resumed;

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${version}: the next connection to a host resumes the session, one to another host does not`, () =>
    onLoopback(async (place) => {
      const sent: boolean[] = [];
      const hello = (socket: unknown): void =>
        void (sent.push((socket as TLSSocket).isSessionReused()), (socket as TLSSocket).end(HELLO));
      const [one, other] = [
        await place.serve(hello, { ...certificate, maxVersion: version }),
        await place.serve(hello, { ...certificate, maxVersion: version }),
      ];
      const fetcher = place.fetcher();
      assert.deepEqual(
        [
          await resumedAt(fetcher, one.url),
          await resumedAt(fetcher, one.url),
          await resumedAt(fetcher, other.url),
          await resumedAt(fetcher, one.url),
        ],
        [false, true, false, true],
      );
      assert.deepEqual(sent, [false, true, false, true]);
      assert.equal(await resumedAt(place.fetcher(), one.url), false, 'another fetcher knows nothing of it');
    }));
}

test('a connection that was made without a look at its certificate is none for requests that ask for one', () =>
  onLoopback(async (place) => {
    const { url, connections } = await place.serve((socket) => socket.write(HELLO), certificate);
    const fetcher = place.fetcher();
    const kept = requestFor(url, { keepMs: 60_000 });
    assert.equal(answered(await fetcher.fetch(kept)).tls, 'unverified');
    const times = { connectTimeoutMs: 5_000, responseTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
    const strict = fetcher.sending({ userAgent: 'A/1', from: 'a@example.org', ...times, verifyTls: true });
    assert.equal(failed(await strict(kept)).cause, 'tls');
    assert.equal(answered(await fetcher.fetch(kept)).tls, 'unverified');
    assert.ok(connections() >= 2);
  }));

test('a response says whether a certificate was verified for it, on a fresh connection and on a kept one', () =>
  onLoopback(async (place) => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.cert]);
    try {
      const secure = await place.serve((socket) => socket.write(HELLO), certificate);
      const plain = await place.serve((socket) => socket.end(HELLO));
      const [lax, strict] = [place.fetcher(), place.fetcher({ verifyTls: true })];
      const saidOf = async (fetcher: Fetcher, url: string): Promise<string | undefined> =>
        answered(await fetcher.fetch(requestFor(url, { keepMs: 60_000 }))).tls;
      for (let i = 0; i < 2; i++) {
        assert.equal(await saidOf(lax, secure.url), 'unverified');
        assert.equal(await saidOf(strict, secure.url), 'verified');
        assert.equal(await saidOf(strict, plain.url), undefined);
      }
      assert.deepEqual([secure.heads.length, secure.connections()], [4, 2]);
    } finally {
      setDefaultCACertificates(before);
    }
  }));

test('a server that fails where a session is offered is not blamed, and gets no offer any more', () =>
  onLoopback(async (place) => {
    let offers = 0;
    // Without tickets the server is asked for the session it is offered; an error there ends the handshake.
    const server = await place.serve(
      (socket) => socket.end(HELLO),
      { ...certificate, maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET },
      (tls) => {
        const given = new Set<string>();
        tls.on('newSession', (id, _session, done) => void (given.add(id.toString('hex')), done()));
        tls.on('resumeSession', (id, done) => {
          // every hello has an id, for the sake of old machines between the two
          if (!given.has(id.toString('hex'))) return done(null, null);
          offers++;
          done(new Error('planted: sessions are lost'), null);
        });
      },
    );
    const fetcher = place.fetcher();
    assert.equal(await resumedAt(fetcher, server.url), false);
    const broken = failed(await fetcher.fetch(requestFor(server.url)));
    assert.deepEqual([broken.cause, broken.unsure], ['tls', true]);
    for (let i = 0; i < 3; i++) assert.equal(await resumedAt(fetcher, server.url), false);
    assert.equal(offers, 1);
    assert.equal(server.heads.length, 4);
  }));

test('a handshake that fails without an offer is the fault of the site', () =>
  onLoopback(async (place) => {
    const closes = await place.listen((socket) => void socket.once('data', () => socket.end()));
    const { cause, unsure } = failed(await place.fetcher().fetch(requestFor(`https://127.0.0.1:${closes.port}/`)));
    assert.deepEqual([cause, unsure], ['tls', false]);
  }));

test('with --verify-tls a session is resumed only if the certificate of its first request was good', () =>
  onLoopback(async (place) => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.cert]);
    try {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const server = await place.serve((socket) => socket.end(HELLO), { ...certificate, maxVersion });
        const fetcher = place.fetcher({
          verifyTls: true,
          connectTo: [{ host: 'other.test', port: 443, address: '127.0.0.1', toPort: server.port }],
        });
        assert.deepEqual([await resumedAt(fetcher, server.url), await resumedAt(fetcher, server.url)], [false, true]);
        // Its certificate is not for this name, however often it is asked.
        for (let i = 0; i < 3; i++) {
          const { cause, unsure, detail } = failed(await fetcher.fetch(requestFor('https://other.test/')));
          assert.deepEqual([cause, unsure], ['tls', false]);
          assert.match(detail, /ALTNAME/);
        }
        assert.equal(server.heads.length, 2);
      }
    } finally {
      setDefaultCACertificates(before);
    }
  }));

test('sessions take no more memory than they may, and those used longest ago go first', () => {
  const session = Buffer.alloc(1_000);
  const hosts = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `https://${name}.test`) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [a, b, c, , , f] = hosts;
  const sessions = createTlsSessions(5 * 1_220); // room for five
  for (const host of hosts.slice(0, 5)) sessions.keep(host, session);
  assert.equal(sessions.of(a), session);
  sessions.keep(f, session);
  assert.deepEqual(
    hosts.filter((host) => !sessions.of(host)),
    [b],
  );
  sessions.distrust(c);
  sessions.keep(c, session);
  assert.equal(sessions.of(c), undefined);
  for (let i = 0; i < 1_000; i++) sessions.keep(a, session); // the same again takes no more room
  assert.deepEqual(
    hosts.filter((host) => !sessions.of(host)),
    [b, c],
  );

  const many = createTlsSessions();
  for (let i = 0; i < 20_000; i++) many.keep(`https://host-${i}.test`, session);
  const known = Array.from({ length: 20_000 }, (_, i) => many.of(`https://host-${i}.test`)).filter(
    (one) => one !== undefined,
  ).length;
  assert.ok(known > 5_000 && known * 1_200 <= 8 * 1024 ** 2, String(known));
  assert.equal(many.of('https://host-19999.test'), session);
});
