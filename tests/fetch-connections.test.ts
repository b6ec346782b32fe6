/** What requests share: kept connections, the ceiling on sockets, the memory of bodies, TLS. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { test } from 'node:test';
import { readConnectTo, type ConnectTo } from '../src/fetch/connect-to.ts';
import type { Exchange } from '../src/model/exchange.ts';
import { freePort } from './support/free-port.ts';
import { answered, failed, onLoopback, requestFor, textOf, turns, type Served } from './support/loopback.ts';
import { selfSigned } from './support/self-signed.ts';
import { until } from './support/until.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const HELLO = `${OK}Content-Length: 5\r\n\r\nhello`;
const KEPT = { keepMs: 60_000 };

test('a connection is kept for the next request to the same origin', async () => {
  await onLoopback(async (place) => {
    const responses = [
      HELLO,
      `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      'HTTP/1.1 204 None\r\n\r\n',
      HELLO,
    ];
    const server = await place.serve((socket, _head, count) => socket.write(responses[count - 1] ?? ''));
    const fetcher = place.fetcher();
    for (const response of responses) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url, KEPT)));
      assert.equal(textOf(exchange), response.includes('204') ? '' : 'hello');
      assert.equal(exchange.address, '127.0.0.1');
      assert.match(exchange.requestHead, /\r\nConnection: keep-alive\r\n/);
      assert.equal(fetcher.gauges().kept, 1);
    }
    assert.equal(server.connections(), 1);
  });
});

test('a small body that is not wanted does not cost the connection', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher();
    for (let count = 0; count < 2; count++) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url, { ...KEPT, wantsBody: () => false })));
      assert.deepEqual([exchange.body.length, exchange.truncated], [0, 'unspecified']);
    }
    assert.equal(server.connections(), 1);
  });
});

test('a connection is not kept when it cannot be trusted with another response', async () => {
  await onLoopback(async (place) => {
    const responses = [
      `${HELLO}more`,
      `${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`,
      'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
      `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
      `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK`,
    ];
    const server = await place.serve((socket, _head, count) => socket.write(responses[count - 1] ?? ''));
    const fetcher = place.fetcher();
    for (const response of responses) {
      answered(await fetcher.fetch(requestFor(server.url, KEPT)));
      assert.equal(fetcher.gauges().kept, 0, response);
    }
  });
});

test('without a time to keep it the connection is closed', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher();
    answered(await fetcher.fetch(requestFor(server.url)));
    assert.deepEqual(fetcher.gauges(), { http: 0, https: 0, kept: 0, bodyBytes: 5, waiting: 0 });
    await until('the connection is closed', () => server.sockets.size === 0);
  });
});

test('a kept connection is closed when its time is over', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher();
    answered(await fetcher.fetch(requestFor(server.url, { keepMs: 50 })));
    await until('the connection is closed', () => fetcher.gauges().http === 0 && server.sockets.size === 0);
  });
});

test('a request on a kept connection that dies is not sent again by itself, for the server may have seen it', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) => {
      if (count === 2)
        socket.destroy(); // dies with the request already on its way
      else socket.write(HELLO);
    });
    const fetcher = place.fetcher();
    answered(await fetcher.fetch(requestFor(server.url, KEPT)));
    const exchange = failed(await fetcher.fetch(requestFor(server.url, KEPT)));
    assert.equal(exchange.cause, 'reset');
    assert.equal(exchange.unsure, true);
    assert.equal(server.heads.length, 2);
    assert.equal(textOf(await fetcher.fetch(requestFor(server.url, KEPT))), 'hello');
    assert.equal(server.connections(), 2);
  });
});

test('a fresh connection that dies without a response is the fault of its site', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.destroy());
    const exchange = failed(await place.fetcher().fetch(requestFor(server.url, KEPT)));
    assert.equal(exchange.cause, 'reset');
    assert.equal(exchange.unsure, false);
    assert.equal(server.heads.length, 1);
  });
});

test('a kept connection that the server closes, or speaks on unasked, is dropped', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher();
    const unasked: ((socket: Socket) => void)[] = [
      (socket) => socket.end(),
      (socket) => socket.write(HELLO.replace('hello', 'wrong')),
    ];
    for (const act of unasked) {
      assert.equal(textOf(await fetcher.fetch(requestFor(server.url, KEPT))), 'hello');
      assert.equal(fetcher.gauges().kept, 1);
      for (const socket of server.sockets) act(socket);
      await until('the connection is dropped', () => fetcher.gauges().http === 0);
    }
    assert.equal(textOf(await fetcher.fetch(requestFor(server.url, KEPT))), 'hello');
  });
});

test('there are never more sockets than the ceiling; requests wait in a queue for them', async () => {
  await onLoopback(async (place) => {
    let most = 0;
    const fetcher = place.fetcher({ socketsMax: 3 });
    // Asked on our side: the server learns of a closed socket later.
    const server: Served = await place.serve((socket) => {
      most = Math.max(most, fetcher.gauges().http);
      setTimeout(() => socket.end(HELLO), 5);
    });
    const order: number[] = [];
    const requests = Array.from({ length: 20 }, (_, index) =>
      fetcher.fetch(requestFor(`${server.url}${index}`)).then((exchange) => {
        order.push(index);
        return exchange;
      }),
    );
    assert.deepEqual(fetcher.gauges(), { http: 3, https: 0, kept: 0, bodyBytes: 0, waiting: 17 });
    for (const exchange of await Promise.all(requests)) assert.equal(textOf(exchange), 'hello');
    assert.ok(most <= 3);
    assert.deepEqual(
      server.heads
        .map((head) => Number(/\/(\d+)/.exec(head)?.[1]))
        .slice(0, 3)
        .sort(),
      [0, 1, 2],
    );
    assert.equal(order.length, 20);
  });
});

test('a kept connection makes room for a request that needs a socket, the oldest first', async () => {
  await onLoopback(async (place) => {
    const servers: Served[] = [];
    for (let count = 0; count < 3; count++) servers.push(await place.serve((socket) => socket.write(HELLO)));
    const fetcher = place.fetcher({ socketsMax: 2 });
    for (const { url } of servers) answered(await fetcher.fetch(requestFor(url, KEPT)));
    assert.deepEqual([fetcher.gauges().http, fetcher.gauges().kept], [2, 2]);
    await until('the oldest is closed', () => servers[0]?.sockets.size === 0);
    assert.equal(servers[1]?.sockets.size, 1);
  });
});

test('a connection is not kept while requests wait for a socket', async () => {
  await onLoopback(async (place) => {
    const one = await place.serve((socket) => socket.write(HELLO));
    const two = await place.serve((socket) => socket.write(HELLO));
    const fetcher = place.fetcher({ socketsMax: 1 });
    const both = await Promise.all([
      fetcher.fetch(requestFor(one.url, KEPT)),
      fetcher.fetch(requestFor(two.url, KEPT)),
    ]);
    assert.deepEqual(both.map(textOf), ['hello', 'hello']);
  });
});

test('a request that waits too long for a socket is given up and never sent', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve(() => {});
    let nowMs = 1_000;
    const clock = { now: () => nowMs, sleep: async () => {} };
    const fetcher = place.fetcher({ clock, socketsMax: 1, totalTimeoutMs: 300, responseTimeoutMs: 10_000 });
    const first = fetcher.fetch(requestFor(server.url));
    const waits = fetcher.fetch(requestFor(server.url));
    await until('the first request has come', () => server.heads.length === 1);
    nowMs += 300;
    const second = failed(await waits);
    assert.equal(failed(await first).cause, 'response-timeout');
    assert.deepEqual([second.cause, second.startedAt], ['timeout', null]);
    assert.equal(server.heads.length, 1);
  });
});

test('a request that is stopped while it waits leaves the queue', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve(() => {});
    const fetcher = place.fetcher({ socketsMax: 1 });
    const stop = new AbortController();
    void fetcher.fetch(requestFor(server.url));
    const waits = fetcher.fetch(requestFor(server.url), stop.signal);
    assert.equal(fetcher.gauges().waiting, 1);
    stop.abort();
    assert.equal(failed(await waits).cause, 'aborted');
    assert.equal(fetcher.gauges().waiting, 0);
  });
});

test('requests under way share one listener on the signal that stops them all, and leave none behind', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) => void (count === 1 && socket.end(HELLO)));
    const fetcher = place.fetcher();
    const stop = new AbortController();
    const listeners = (): number => getEventListeners(stop.signal, 'abort').length;
    answered(await fetcher.fetch(requestFor(server.url), stop.signal));
    assert.equal(listeners(), 0);
    const requests = Array.from({ length: 20 }, () => fetcher.fetch(requestFor(server.url), stop.signal));
    await until('all requests have come', () => server.heads.length === 21);
    assert.equal(listeners(), 1);
    stop.abort();
    for (const exchange of await Promise.all(requests)) assert.equal(failed(exchange).cause, 'aborted');
    assert.equal(listeners(), 0);
  });
});

const MIB = 2 ** 20;

test('bodies share their memory: above it all wait but one, until others are forgotten', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => {
      socket.write(`${OK}Content-Length: ${MIB}\r\n\r\n`);
      socket.write(Buffer.alloc(MIB, 97));
    });
    const requestsCount = 6;
    const bodyMemoryBytes = MIB / 2;
    const ceiling = bodyMemoryBytes + MIB + requestsCount * 64 * 1024;
    const fetcher = place.fetcher({ bodyMemoryBytes });
    const done: Exchange[] = [];
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, fetcher.gauges().bodyBytes);
    }, 1);
    for (let count = 0; count < requestsCount; count++) {
      void fetcher.fetch(requestFor(server.url)).then((exchange) => done.push(exchange));
    }
    for (let count = 1; count <= requestsCount; count++) {
      await until(`${count} bodies are whole`, () => done.length === count);
      most = Math.max(most, fetcher.gauges().bodyBytes);
      // One finished body fills the share of those that wait to be forgotten: nothing else ends.
      await turns(50);
      assert.equal(done.length, count);
      assert.equal(answered(done[count - 1] as Exchange).body.length, MIB);
      fetcher.forget(done[count - 1] as Exchange);
    }
    clearInterval(look);
    assert.ok(most <= ceiling, `${most} bytes were held, ${ceiling} allowed`);
    assert.equal(fetcher.gauges().bodyBytes, 0);
  });
});

test('bodies that nobody forgets do not hang the others: those end with their time', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => {
      socket.write(`${OK}Content-Length: ${MIB}\r\n\r\n`);
      socket.write(Buffer.alloc(MIB, 97));
    });
    let nowMs = 1_000;
    const clock = { now: () => nowMs, sleep: async () => {} };
    const fetcher = place.fetcher({ clock, bodyMemoryBytes: MIB / 2, totalTimeoutMs: 600 });
    let begun = 0;
    let done = 0;
    const wantsBody = (): boolean => ++begun > 0;
    const requests = [1, 2, 3].map(() => fetcher.fetch(requestFor(server.url, { wantsBody })).finally(() => done++));
    await until('all bodies have begun, and one is whole', () => begun === 3 && done === 1);
    nowMs += 600;
    const all = await Promise.all(requests);
    assert.deepEqual(all.map((exchange) => answered(exchange).truncated).sort(), [null, 'time', 'time'].sort());
    for (const exchange of all) fetcher.forget(exchange);
    assert.equal(fetcher.gauges().bodyBytes, 0);
  });
});

const certificate = selfSigned('secure.test');

test('a request over TLS names its host and keeps its connection', async () => {
  await onLoopback(async (place) => {
    const names: unknown[] = [];
    const server = await place.serve(
      (socket) => {
        names.push((socket as TLSSocket).servername, (socket as TLSSocket).alpnProtocol);
        socket.write(`${OK}Content-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`);
      },
      { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] },
    );
    const rule = readConnectTo(`secure.test:443:127.0.0.1:${server.port}`) as ConnectTo;
    const fetcher = place.fetcher({ connectTo: [rule] });
    for (let count = 0; count < 2; count++) {
      const exchange = answered(await fetcher.fetch(requestFor('https://secure.test/', KEPT)));
      assert.equal(exchange.body.length, 300_000);
      assert.match(exchange.requestHead, /\r\nHost: secure\.test\r\n/);
    }
    assert.deepEqual(fetcher.gauges(), { http: 0, https: 1, kept: 1, bodyBytes: 600_000, waiting: 0 });
    assert.equal(server.connections(), 1);
    const literal = answered(await fetcher.fetch(requestFor(server.url)));
    assert.equal(literal.body.length, 300_000);
    assert.deepEqual(names, ['secure.test', 'http/1.1', 'secure.test', 'http/1.1', false, 'http/1.1']);
  });
});

test('a connection whose body ended while it had to wait still serves the next request', async () => {
  await onLoopback(async (place) => {
    const body = 'x'.repeat(40_000);
    const server = await place.serve(
      (socket) => socket.write(`${OK}Content-Length: ${body.length}\r\n\r\n${body}`),
      certificate,
    );
    const fetcher = place.fetcher({ bodyMemoryBytes: 30_000 });
    const first = await fetcher.fetch(requestFor(server.url, KEPT));
    // TLS hands over what it has decrypted even after a pause, so this one may end while it waits.
    const second = fetcher.fetch(requestFor(server.url, KEPT));
    await turns(100);
    fetcher.forget(first);
    fetcher.forget(await second);
    assert.equal(textOf(await fetcher.fetch(requestFor(server.url, KEPT))), body);
    assert.equal(server.connections(), 1);
  });
});

test('a certificate is looked at only when that is asked for', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end(HELLO), certificate);
    assert.equal(textOf(await place.fetcher().fetch(requestFor(server.url))), 'hello');
    const strict = failed(await place.fetcher({ verifyTls: true }).fetch(requestFor(server.url)));
    assert.equal(strict.cause, 'tls');
    assert.match(strict.detail, /SELF_SIGNED/);
    assert.equal(server.heads.length, 1);
  });
});

test('old servers are spoken to unless certificates are verified', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end(HELLO), {
      ...certificate,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    assert.equal(textOf(await place.fetcher().fetch(requestFor(server.url))), 'hello');
    assert.equal(failed(await place.fetcher({ verifyTls: true }).fetch(requestFor(server.url))).cause, 'tls');
  });
});

test('a handshake that fails has its name, one that stalls too', async () => {
  await onLoopback(async (place) => {
    const plain = await place.listen(
      (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const closes = await place.listen((socket) => void socket.once('data', () => socket.end()));
    const mute = await place.listen(() => {});
    const [patient, hurried] = [place.fetcher(), place.fetcher({ connectTimeoutMs: 300 })];
    const causeAt = async (port: number, fetcher = patient): Promise<string> =>
      failed(await fetcher.fetch(requestFor(`https://127.0.0.1:${port}/`))).cause;
    assert.equal(await causeAt(plain.port), 'tls');
    assert.equal(await causeAt(closes.port), 'tls');
    assert.equal(await causeAt(mute.port, hurried), 'connect-timeout');
    assert.equal(await causeAt(await freePort()), 'refused');
  });
});

test('an IPv6 address is dialled and named in brackets', async (t) => {
  await onLoopback(async (place) => {
    const server = await place
      .listen((socket) => void socket.once('data', () => socket.end(HELLO)), '::1')
      .catch(() => null);
    if (server === null) return t.skip('no IPv6 loopback here');
    const exchange = answered(await place.fetcher().fetch(requestFor(server.url)));
    assert.equal(exchange.address, '::1');
    assert.match(exchange.requestHead, /\r\nHost: \[::1\]:\d+\r\n/);
  });
});
