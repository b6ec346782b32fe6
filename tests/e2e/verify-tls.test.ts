/** With --verify-tls only certificates that can be verified are spoken to; without it, all are. */

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecords } from '../../src/archive/reader.ts';
import { runBinary } from '../support/binary.ts';
import { assertCode, onStage, plainPlan, type ListedPage } from '../support/stage.ts';

const PLAN = { ...plainPlan(4, 20, 6), https: true };

test('a certificate that is trusted is verified and its site crawled', async () => {
  await onStage(PLAN, async (stage) => {
    const trusted = join(stage.home, 'trusted.pem');
    writeFileSync(trusted, stage.served.certificate);
    const ran = await runBinary(stage.crawlWords({ 'verify-tls': true }), {
      cwd: stage.home,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted },
    });
    assertCode(ran, 0);
    assert.deepEqual(stage.report().missing, []);
    assert.ok((await stage.pages({ outcome: 'fetched' })).length >= 20);
    assert.match(warcinfoIn(stage.dir), /^tls-verification: required\r$/m);
    assertTls(await stage.pages(), 'verified');
  });
});

/** Pages that came over https say this, others nothing. */
const assertTls = (pages: readonly ListedPage[], verdict: string): void => {
  for (const { url, status, tls } of pages)
    assert.equal(tls, status !== null && url.startsWith('https:') ? verdict : '', url);
  assert.ok(pages.some(({ tls }) => tls === verdict));
};

/** What the first record of the archive says. */
const warcinfoIn = (dir: string): string => {
  const [file] = readdirSync(join(dir, 'warc')).toSorted();
  const [record] = readRecords(join(dir, 'warc', file!));
  return record!.block.toString();
};

test('without the flag nobody asks for a certificate that is right, and the archive says so', async () => {
  await onStage(PLAN, async (stage) => {
    assertCode(await stage.crawl(), 0);
    assert.match(warcinfoIn(stage.dir), /^tls-verification: none\r$/m);
    assertTls(await stage.pages(), 'unverified');
  });
});

test('a certificate that nobody vouches for ends the request before a page is asked for', async () => {
  await onStage(PLAN, async (stage) => {
    const ran = await stage.crawl({ 'verify-tls': true });
    assertCode(ran, 5); // its seeds could not be reached
    assert.match(ran.stdout, /the TLS handshake failed, or --verify-tls or --credentials refused the certificate/);
    assert.equal(stage.served.record.requests.length, 0);
    assert.equal((await stage.status()).pages, 0);
  });
});
