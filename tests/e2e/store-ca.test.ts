/** A store with TLS whose certificate an authority of one's own signed: a setting names it, for each member. */

import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { selfSigned, type KeyAndCertificate } from '../support/self-signed.ts';
import { assertCode, flagWords, onStage, plainPlan } from '../support/stage.ts';

interface Secured {
  readonly url: string;
  remove(): Promise<void>;
}

const STORES: Readonly<Record<string, (pair: KeyAndCertificate, home: string) => Promise<Secured>>> = {
  redis: async ({ cert, key }, home) => {
    const [certFile, keyFile] = [join(home, 'server.pem'), join(home, 'server.key')];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
    const tlsPort = await freePort();
    const server = await startRedis({
      'tls-port': String(tlsPort),
      'tls-cert-file': certFile,
      'tls-key-file': keyFile,
      'tls-ca-cert-file': certFile,
      'tls-auth-clients': 'no',
      appendonly: 'yes',
    });
    return { url: `rediss://127.0.0.1:${tlsPort}`, remove: server.remove };
  },
  postgres: async ({ cert, key }) => {
    const server = await startPostgres();
    const { uid, gid } = statSync(server.dir);
    for (const [name, text] of [
      ['server.crt', cert],
      ['server.key', key],
    ] as const) {
      writeFileSync(join(server.dir, name), text, { mode: 0o600 });
      chownSync(join(server.dir, name), uid, gid);
    }
    const url = await server.database();
    await server.query(url, 'ALTER SYSTEM SET ssl = on');
    await server.query(url, 'SELECT pg_reload_conf()');
    return { url: `${url}?sslmode=verify-full`, remove: server.remove };
  },
};

for (const [store, start] of Object.entries(STORES)) {
  test(`${store}: --store-ca names the certificate that a store is trusted by, for all commands, and a member has its own`, async () => {
    const home = mkdtempSync(join(tmpdir(), 'gossamer-ca-'));
    const pair = selfSigned('localhost');
    const secured = await start(pair, home);
    process.env.GOSSAMER_STORE = secured.url;
    try {
      await onStage(plainPlan(3, 9), async (stage) => {
        writeFileSync(join(stage.home, 'ca.pem'), pair.cert);
        const refused = await stage.crawl({ name: 'secured' });
        assert.notEqual(refused.code, 0);
        assert.match(refused.stderr, /the certificate of \S+ at 127\.0\.0\.1:\d+ is not trusted/);
        assert.match(refused.stderr, /--store-ca FILE/);

        assertCode(await stage.crawl({ name: 'secured', 'store-ca': 'ca.pem', 'max-pages': 3 }), 0);
        const kept = JSON.parse(readFileSync(join(stage.dir, 'crawl.json'), 'utf8')) as {
          settings: { store: string; storeCa: string };
        };
        assert.equal(kept.settings.storeCa, join(stage.home, 'ca.pem'), 'it holds in every folder');
        assert.doesNotMatch(kept.settings.store, /ca\.pem/);
        assert.ok((await stage.status()).pages >= 3);
        assertCode(await stage.resume({ 'max-pages': 'none' }), 0);
        assertCode(await stage.gossamer('verify', stage.dir), 0);

        const own = join(stage.home, 'own.pem');
        writeFileSync(own, pair.cert);
        rmSync(join(stage.home, 'ca.pem'));
        const second = join(stage.home, 'second');
        const words = ['join', second, ...flagWords({ name: 'secured' })];
        assert.match((await stage.gossamer(...words)).stderr, /is not trusted/);
        assertCode(await stage.gossamer(...words, '--store-ca', own), 0);

        // Another authority than the one that signed it.
        writeFileSync(own, selfSigned('localhost').cert);
        assert.match((await stage.gossamer('status', second)).stderr, /is not trusted/);
      });
    } finally {
      delete process.env.GOSSAMER_STORE;
      await secured.remove();
      rmSync(home, { recursive: true });
    }
  });
}

test('a file of certificates that is missing or has none, and one for a store without TLS, are refused at once', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const at = async (flags: Parameters<typeof stage.crawl>[0]): Promise<string> => {
      const ran = await stage.crawl(flags);
      assertCode(ran, 2);
      return ran.stderr;
    };
    const store = 'rediss://127.0.0.1:1';
    assert.match(await at({ store, 'store-ca': 'nowhere.pem' }), /--store-ca "nowhere\.pem" cannot be read: ENOENT/);
    assert.match(await at({ store, 'store-ca': stage.seedFile }), /holds no certificate: name a file in PEM format/);
    assert.match(
      await at({ store: 'redis://127.0.0.1:1', 'store-ca': stage.seedFile }),
      /--store-ca is for a store with TLS/,
    );
  }));
