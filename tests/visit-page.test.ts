/** The row of a page that a server answered. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answered } from '../src/model/exchange.ts';
import type { Findings } from '../src/model/findings.ts';
import { parsePage } from '../src/parse/page.ts';
import { answeredPage } from '../src/visit/page.ts';
import { link } from './contract/store-scene.ts';

const exchangeOf = (body: string, contentType: string): Answered => ({
  kind: 'answered',
  url: 'http://a.example/',
  startedAt: 1,
  answeredAt: 2,
  endedAt: 3,
  address: '192.0.2.1',
  status: 200,
  headers: { 'content-type': contentType },
  requestHead: '',
  head: '',
  body: new Uint8Array(Buffer.from(body, 'latin1')),
  truncated: null,
});

const rowOf = (exchange: Answered, findings: Findings | null) =>
  answeredPage({
    link: link('a.example/'),
    tries: 1,
    exchange,
    parsed: {
      kind: 'parsed',
      records: null,
      findings,
      digest: '',
      bodyBytes: exchange.body.length,
      cut: false,
      extracted: '',
      troubles: [],
    },
    outcome: 'fetched',
    redirect: '',
    robots: '',
  });

test('the row of a page says in which encoding it was read, and whether that was a guess', () => {
  const charsetOf = (body: string, contentType: string): [string, boolean] => {
    const exchange = exchangeOf(body, contentType);
    const { findings } = parsePage({ ...exchange, textBytesMax: 1_000, productToken: 'gossamer' });
    const { charset, charset_guessed } = rowOf(exchange, findings);
    return [charset, charset_guessed];
  };
  assert.deepEqual(charsetOf('<p>\xcf', 'text/html; charset=cp1251'), ['windows-1251', false]);
  assert.deepEqual(charsetOf('<meta charset=koi8-r><p>\xcf', 'text/html'), ['koi8-r', false]);
  assert.deepEqual(charsetOf('<p>\xcf', 'text/html'), ['windows-1252', true]);
});

test('the row of a page that was not read names no encoding', () => {
  const { charset, charset_guessed } = rowOf(exchangeOf('GIF89a', 'image/gif'), null);
  assert.deepEqual([charset, charset_guessed], ['', false]);
});
