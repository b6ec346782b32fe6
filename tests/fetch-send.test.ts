/** A request is told of before its first byte is sent, and is not sent when that fails. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClock } from '../src/lib/clock.ts';
import { answered, failed, onLoopback, requestFor, turns } from './support/loopback.ts';
import { startNameServer } from './support/name-server.ts';
import { selfSigned } from './support/self-signed.ts';

const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test('a request is told of with its address and its start before anything is sent, on a kept connection too', () =>
  onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher();
    const told: { address: string; startedAt: number; sockets: number; requests: number }[] = [];
    const onSend = (address: string, startedAt: number): void => {
      const { http } = fetcher.gauges();
      told.push({ address, startedAt, sockets: http, requests: server.heads.length });
    };
    const first = answered(await fetcher.fetch(requestFor(server.url, { keepMs: 60_000, onSend })));
    const second = answered(await fetcher.fetch(requestFor(server.url, { keepMs: 60_000, onSend })));
    assert.equal(server.connections(), 1);
    assert.deepEqual(told, [
      { address: '127.0.0.1', startedAt: first.startedAt, sockets: 0, requests: 0 },
      { address: '127.0.0.1', startedAt: second.startedAt, sockets: 1, requests: 1 },
    ]);
  }));

test('every address that is tried is told of, each before it is dialled', async () => {
  const names = await startNameServer({ 'two.test': { a: ['127.0.0.2', '127.0.0.1'] } });
  try {
    await onLoopback(async (place) => {
      const server = await place.serve((socket) => socket.end(HELLO));
      const fetcher = place.fetcher({ nameServers: [names.address] });
      const told: string[] = [];
      answered(
        await fetcher.fetch(requestFor(`http://two.test:${server.port}/`, { onSend: (address) => told.push(address) })),
      );
      assert.deepEqual(told, ['127.0.0.2', '127.0.0.1']);
    });
  } finally {
    await names.close();
  }
});

test('a request that cannot be told of is not sent, and its failure is ours', () =>
  onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher({ socketsMax: 1 });
    const refuse = {
      keepMs: 60_000,
      onSend: (): never => {
        throw new Error('no room for a note');
      },
    };
    await assert.rejects(fetcher.fetch(requestFor(server.url, refuse)), /no room for a note/);
    assert.equal(server.connections(), 0);
    answered(await fetcher.fetch(requestFor(server.url, { keepMs: 60_000 })));
    await assert.rejects(fetcher.fetch(requestFor(server.url, refuse)), /no room for a note/);
    await turns(5);
    assert.equal(server.heads.length, 1, 'nothing was sent on the kept connection either');
    answered(await fetcher.fetch(requestFor(server.url)));
  }));

test('nothing is sent once a request may not be: not when its turn comes, nor when its connection stands, over http and https', () =>
  onLoopback(async (place) => {
    const clock = createClock();
    let stoodStillMs = 0;
    const late = { now: () => clock.now() + stoodStillMs, sleep: clock.sleep };
    const until = (atMs: number) => ({ maySend: () => late.now() < atMs });
    const fetcher = place.fetcher({ clock: late });
    const server = await place.serve((socket) => socket.write(HELLO));
    const secure = await place.serve((socket) => socket.write(HELLO), selfSigned('secure.test'));
    for (const { url } of [server, secure]) {
      assert.equal(failed(await fetcher.fetch(requestFor(url, { maySend: () => false }))).cause, 'aborted');
      assert.equal(
        failed(
          await fetcher.fetch(
            requestFor(url, { ...until(late.now() + 60_000), onSend: () => void (stoodStillMs += 60_000) }),
          ),
        ).cause,
        'aborted',
      );
    }
    await turns(5);
    assert.deepEqual([server.heads, secure.heads], [[], []]);
    answered(await fetcher.fetch(requestFor(server.url, until(late.now() + 60_000))));
  }));
