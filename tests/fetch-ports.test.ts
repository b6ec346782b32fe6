/** Ports that are never called: refused as links, as seeds, and by the fetcher itself, before a connection is made. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConnectTo, type ConnectTo } from '../src/fetch/connect-to.ts';
import { createClock } from '../src/lib/clock.ts';
import { BAD_PORTS, STORE_PORTS } from '../src/model/blocked-ports.ts';
import type { Link } from '../src/model/link.ts';
import { canonicalize, type Address } from '../src/url/canonical.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import { readExcluded, readSeed } from '../src/url/seed.ts';
import type { VisitParts } from '../src/visit/parts.ts';
import { createRecentlyAdmitted } from '../src/visit/recent.ts';
import { requestRobots } from '../src/visit/robots-request.ts';
import { createRouter } from '../src/visit/router.ts';
import { createManualClock } from './support/manual-clock.ts';
import { failed, onLoopback, requestFor, textOf, type Place } from './support/loopback.ts';

const BLOCKED = [...Object.keys(BAD_PORTS), ...Object.keys(STORE_PORTS)].map(Number);
const scope = createScope(NO_RULES);
const page: Link = {
  url: (canonicalize('http://a.example/') as Address).url,
  site: 'a.example',
  depth: 0,
  via: '',
  hops: 0,
  fallback: false,
  first: false,
};

test('the ports that browsers refuse are in the table, each under its number', async () => {
  // Node's fetch refuses them before it connects; one that it took would be refused by the closed port.
  for (const port of Object.keys(BAD_PORTS)) {
    const fault = await fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => error);
    assert.match(String((fault as Error).cause), /bad port/, port);
  }
});

test('a link with a port that is not the web has a name for it, wherever it stands', () => {
  for (const port of BLOCKED) {
    for (const host of ['a.example', '127.0.0.1', '[2606:4700::1]'])
      for (const scheme of ['http', 'https'])
        assert.equal(scope.judge(canonicalize(`${scheme}://${host}:${port}/`) as Address, host, 0), 'blocked-port');
  }
  for (const url of ['http://a.example', 'http://a.example:443', 'https://a.example:80', 'http://[2606::6379]'])
    assert.equal(scope.judge(canonicalize(`${url}/`) as Address, 'a.example', 0), null, url);
  for (const port of [3000, 8000, 8080, 8443, 8888, 9000])
    assert.equal(scope.judge(canonicalize(`http://a.example:${port}/`) as Address, 'a.example', 0), null);
});

test('links, sitemaps and redirects to such a port are counted and not followed', async () => {
  const router = createRouter({ clock: createManualClock(), scope, recent: createRecentlyAdmitted(), accept: null });
  const hrefs = ['//b.example:6379/', 'http://a.example:25/', '/fine'];
  const findings = {
    title: '',
    language: '',
    charset: '',
    charsetGuessed: false,
    base: page.url,
    canonical: '',
    text: '',
  };
  const links = (await router.route(page, { ...findings, hrefs, noindex: false, nofollow: false }))!;
  assert.deepEqual(
    links.map(({ url }) => url),
    ['http://a.example/fine'],
  );
  assert.deepEqual(await router.sitemaps(page, { hrefs: hrefs.slice(0, 1), via: page.url, kind: 'named' }), []);
  assert.equal(router.redirect(page, canonicalize('http://a.example:9200/_all') as Address), null);
  assert.deepEqual(router.refused, { 'blocked-port': 4 });
});

test('a seed with such a port is bad, and the line says which service has it; an exclude file may name one', () => {
  for (const line of ['a.example:6379', 'http://a.example:6379/x', '//a.example:6379'])
    assert.deepEqual(readSeed(line), {
      kind: 'bad',
      why: `"${line}" is not usable: its port 6379 is that of Redis, and never called`,
    });
  assert.equal(readSeed('a.example:8080').kind, 'link');
  assert.deepEqual(readExcluded('a.example:6379'), { kind: 'name', name: 'a.example' });
});

/** A server, and a fetcher that is led to it from any host and port. */
const ledTo = async (place: Place, answer: string): Promise<{ parts: VisitParts; connections: () => number }> => {
  const { port, connections } = await place.serve((socket) => socket.end(answer));
  const fetcher = place.fetcher({ connectTo: [readConnectTo(`*:*:127.0.0.1:${port}`) as ConnectTo] });
  const parts = { clock: createClock(), fetch: fetcher.fetch.bind(fetcher) } as unknown as VisitParts;
  return { parts, connections };
};

test('the fetcher itself refuses such a port, and connects to nothing', async () => {
  await onLoopback(async (place) => {
    const { parts, connections } = await ledTo(place, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
    const fetchOf = (url: string) => parts.fetch(requestFor(url) as Parameters<VisitParts['fetch']>[0], noStop);
    const refused = failed(await fetchOf('http://a.example:6379/'));
    assert.deepEqual(
      [refused.cause, refused.detail, refused.startedAt, refused.unsure],
      ['address', 'port 6379 is that of Redis, and never called', null, false],
    );
    assert.equal(connections(), 0);
    assert.equal(textOf(await fetchOf('http://a.example:8080/')), 'hi');
  });
});

const noStop = new AbortController().signal;

test('a robots.txt that redirects to such a port is not followed there', async () => {
  await onLoopback(async (place) => {
    const { parts, connections } = await ledTo(place, 'HTTP/1.1 302 Found\r\nLocation: //a.example:11211/\r\n\r\n');
    const context = { site: 'a.example', lease: 0, rules: null, restMs: 0, delayMs: 0 };
    const result = await requestRobots(parts, { origin: 'http://a.example', context }, noStop);
    assert.ok(result.kind === 'trouble');
    assert.equal(failed(result.last).cause, 'address');
    assert.equal(connections(), 1);
  });
});
