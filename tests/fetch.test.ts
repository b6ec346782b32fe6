/** One request: what is sent, what is kept of the response, and a name for everything that goes wrong. */

import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { createFetcher } from '../src/fetch/fetcher.ts';
import { createClock } from '../src/lib/clock.ts';
import type { Exchange } from '../src/model/exchange.ts';
import { answered, failed, onLoopback, requestFor, textOf, turns } from './support/loopback.ts';
import { until } from './support/until.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

test('the request says who sends it and how to reach them, and is kept as it was sent', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    const exchange = answered(await place.fetcher().fetch(requestFor(`${server.url}a%20b/../c?q=1|2&x=\u00e4#part`)));
    assert.equal(exchange.requestHead, server.heads[0]);
    assert.equal(
      exchange.requestHead,
      [
        'GET /c?q=1|2&x=%C3%A4 HTTP/1.1',
        `Host: 127.0.0.1:${server.port}`,
        'User-Agent: Gossamer/0 (+contact; me@example.org)',
        'From: me@example.org',
        'Accept: text/html,application/xhtml+xml,text/plain;q=0.9,application/xml;q=0.8,*/*;q=0.5',
        'Accept-Encoding: gzip, deflate, br',
        'Connection: close',
        '',
        '',
      ].join('\r\n'),
    );
  });
});

test('requests can be sent in another way while others are under way, on the same connections', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(`${OK}Content-Length: 0\r\n\r\n`));
    const fetcher = place.fetcher();
    const times = { connectTimeoutMs: 1_000, responseTimeoutMs: 1_000, totalTimeoutMs: 1_000, verifyTls: false };
    const other = fetcher.sending({ userAgent: 'Other/2', from: 'you@example.org', ...times });
    const request = { ...requestFor(server.url), keepMs: 60_000 };
    const exchanges = [await fetcher.fetch(request), await other(request), await fetcher.fetch(request)];
    assert.deepEqual(
      exchanges.map((one) => /User-Agent: (\w+)/.exec(answered(one).requestHead)![1]),
      ['Gossamer', 'Other', 'Gossamer'],
    );
    assert.equal(fetcher.gauges().http, 1);
  });
});

test('nothing can be injected into a request', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
    await place.fetcher().fetch(requestFor(`${server.url}a\r\nX-Evil: 1\r\n\r\nGET /two`));
    await place.fetcher().fetch(requestFor(`http://me:pass@127.0.0.1:${server.port}/%0d%0aX-Evil:1`));
    assert.equal(server.heads.length, 2);
    for (const head of server.heads) assert.doesNotMatch(head, /^(X-Evil|Authorization|GET \/two)/m);
    assert.throws(() => place.fetcher({ userAgent: 'a\r\nX-Evil: 1' }), /User-Agent/);
    assert.throws(() => place.fetcher({ from: 'a\nb' }), /From/);
  });
});

test('a response of a real HTTP server is kept whole, compressed as it came', async () => {
  const page = gzipSync('<title>hello</title>'.repeat(10_000));
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
    response.write(page.subarray(0, 20));
    response.end(page.subarray(20));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await onLoopback(async (place) => {
    const clock = createClock();
    const before = clock.now();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const exchange = answered(await place.fetcher({ clock }).fetch(requestFor(url)));
    assert.deepEqual(Buffer.from(exchange.body), page);
    assert.equal(exchange.url, url);
    assert.equal(exchange.status, 200);
    assert.equal(exchange.headers['content-encoding'], 'gzip');
    assert.equal(exchange.address, '127.0.0.1');
    assert.equal(exchange.truncated, null);
    assert.match(exchange.head, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
    assert.ok(before <= exchange.startedAt && exchange.startedAt <= exchange.answeredAt);
    assert.ok(exchange.answeredAt <= exchange.endedAt && exchange.endedAt <= clock.now());
    await new Promise((resolve) => server.close(resolve));
  });
});

test('the body owns its memory and can be handed to another thread', async () => {
  await onLoopback(async (place) => {
    const bodies = ['x', 'y'.repeat(40_000), 'z'.repeat(200_000)];
    const server = await place.serve((socket, _head, count) => {
      const body = bodies[(count - 1) >> 1] as string;
      socket.end(count % 2 ? `${OK}Content-Length: ${body.length}\r\n\r\n${body}` : `${OK}\r\n${body}`);
    });
    const fetcher = place.fetcher();
    for (let count = 0; count < 6; count++) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url)));
      assert.equal(exchange.body.byteOffset, 0);
      assert.equal(exchange.body.byteLength, exchange.body.buffer.byteLength);
      assert.equal(Object.getPrototypeOf(exchange.body), Uint8Array.prototype);
      assert.equal(textOf(exchange), bodies[count >> 1]);
      const moved = structuredClone(exchange.body, { transfer: [exchange.body.buffer] });
      assert.equal(moved.length, bodies[count >> 1]?.length);
      assert.equal(fetcher.gauges().bodyBytes, moved.length);
      fetcher.forget(exchange);
      fetcher.forget(exchange);
      assert.equal(fetcher.gauges().bodyBytes, 0);
    }
  });
});

test('a body is cut at its ceiling and the connection ended, however it is framed', async () => {
  await onLoopback(async (place) => {
    const frames = [`Content-Length: ${10 * 2 ** 20}\r\n\r\n`, '\r\n', `Transfer-Encoding: chunked\r\n\r\nA00000\r\n`];
    const server = await place.serve((socket, _head, count) => {
      socket.write(OK + (frames[count - 1] ?? ''));
      socket.write(Buffer.alloc(10 * 2 ** 20, 97));
    });
    const fetcher = place.fetcher();
    for (const _ of frames) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url, { keepMs: 60_000 })));
      assert.equal(exchange.truncated, 'length');
      assert.equal(exchange.body.length, 2 ** 20);
      assert.equal(fetcher.gauges().kept, 0);
    }
    await until('all connections are closed', () => server.sockets.size === 0);
  });
});

test('a body of exactly the ceiling is whole', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) =>
      socket.end(
        count === 1
          ? `${OK}Content-Length: 5\r\n\r\nhello`
          : `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      ),
    );
    const fetcher = place.fetcher();
    for (let count = 0; count < 2; count++) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url, { bodyBytesMax: 5 })));
      assert.deepEqual([textOf(exchange), exchange.truncated], ['hello', null]);
    }
    assert.equal(answered(await fetcher.fetch(requestFor(server.url, { bodyBytesMax: 4 }))).truncated, 'length');
  });
});

test('a body that is not wanted is not downloaded', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) => {
      if (count === 1) socket.write(`${OK}Content-Type: video/mp4\r\nContent-Length: 99999999\r\n\r\n12345`);
      else if (count === 2) socket.write(`${OK}Content-Length: 0\r\n\r\n`);
      else if (count === 3) socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n');
      else socket.write(`${OK}\r\nendless`);
    });
    const fetcher = place.fetcher();
    const asked: unknown[] = [];
    const wantsBody = (status: number, headers: Readonly<Record<string, string>>): boolean => {
      asked.push([status, headers['content-type']]);
      return false;
    };
    const seen = [];
    for (let count = 0; count < 4; count++) {
      const { body, truncated } = answered(await fetcher.fetch(requestFor(server.url, { wantsBody })));
      seen.push([body.length, truncated]);
    }
    assert.deepEqual(seen, [
      [0, 'unspecified'],
      [0, null],
      [0, null],
      [0, 'unspecified'],
    ]);
    assert.deepEqual(asked, [
      [200, 'video/mp4'],
      [200, undefined],
      [304, undefined],
      [200, undefined],
    ]);
    await until('all connections are closed', () => server.sockets.size === 0);
  });
});

test('what came of a body is kept when the connection is lost or its framing breaks', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) => {
      if (count === 1) socket.end(`${OK}Content-Length: 100\r\n\r\nhello`);
      else if (count === 2) socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
      else if (count === 3) socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense\r\n`);
      else {
        const before = fetcher.gauges().bodyBytes;
        socket.write(`${OK}Content-Length: 100\r\n\r\nhello`);
        // A reset takes back what was not read yet.
        void until('what was sent is read', () => fetcher.gauges().bodyBytes > before).then(() =>
          socket.resetAndDestroy(),
        );
      }
    });
    const fetcher = place.fetcher();
    for (let count = 0; count < 4; count++) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url)));
      assert.deepEqual([textOf(exchange), exchange.truncated], ['hello', 'disconnect'], `response ${count + 1}`);
    }
  });
});

test('a body without a length ends with its connection and is whole', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, _head, count) =>
      socket.end(
        count === 1 ? 'HTTP/1.0 200 OK\r\n\r\nhello' : `${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nhello`,
      ),
    );
    const fetcher = place.fetcher();
    for (let count = 0; count < 2; count++) {
      const exchange = answered(await fetcher.fetch(requestFor(server.url, { keepMs: 1_000 })));
      assert.deepEqual([textOf(exchange), exchange.truncated], ['hello', null]);
    }
    assert.equal(fetcher.gauges().kept, 0);
  });
});

test('every way of not answering has its name', async () => {
  await onLoopback(async (place) => {
    const responses: ((socket: Socket) => void)[] = [
      (socket) => socket.end(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nServer: x\r\n'),
      (socket) => socket.write('220 mail.example.org ESMTP\r\n'),
      (socket) => {
        for (let n = 0; n < 40; n++) socket.write(`X-${n}: ${'a'.repeat(4_000)}\r\n`);
      },
      (socket) => {
        socket.write(OK);
        for (let n = 0; n < 40; n++) socket.write(`X-${n}: ${'a'.repeat(4_000)}\r\n`);
      },
    ];
    const server = await place.serve((socket, _head, count) => responses[count - 1]?.(socket));
    const fetcher = place.fetcher();
    const causes = [];
    for (const _ of responses) {
      const exchange = failed(await fetcher.fetch(requestFor(server.url)));
      assert.notEqual(exchange.startedAt, null);
      assert.notEqual(exchange.detail, '');
      causes.push(exchange.cause);
    }
    assert.deepEqual(causes, ['reset', 'reset', 'reset', 'bad-response', 'bad-response', 'bad-response']);
    await until('all connections are closed', () => server.sockets.size === 0);
  });
});

test('a server that does not answer is given up long before the whole time is over', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve(() => {});
    let nowMs = 1_000;
    const clock = { now: () => nowMs, sleep: async () => {} };
    const fetcher = place.fetcher({ clock, responseTimeoutMs: 200, totalTimeoutMs: 1_000_000 });
    let exchange: Exchange | null = null;
    void fetcher.fetch(requestFor(server.url)).then((ended) => {
      exchange = ended;
    });
    await until('the request has come', () => server.heads.length === 1);
    nowMs += 200;
    await until('the request is given up', () => exchange !== null);
    assert.equal(failed(exchange as unknown as Exchange).cause, 'response-timeout');
  });
});

test('a response that never ends is given up in time, and what can be kept of it is kept', async () => {
  await onLoopback(async (place) => {
    let drips = 0;
    const drip = (socket: Socket, bytes: string): void => {
      const timer = setInterval(() => {
        drips++;
        socket.write(bytes);
      }, 5);
      socket.once('close', () => clearInterval(timer));
    };
    const server = await place.serve((socket, head) => {
      socket.write(OK);
      if (head.includes('/head')) return drip(socket, 'X: y\r\n');
      socket.write('Content-Length: 1000000\r\n\r\n');
      drip(socket, 'body');
    });
    let nowMs = 1_000;
    const clock = { now: () => nowMs, sleep: async () => {} };
    const fetcher = place.fetcher({ clock, responseTimeoutMs: 1_000_000, totalTimeoutMs: 400 });
    const head = fetcher.fetch(requestFor(`${server.url}head`));
    await until('the head drips', () => drips > 3);
    nowMs += 400;
    assert.equal(failed(await head).cause, 'timeout');
    const body = fetcher.fetch(requestFor(`${server.url}body`));
    await until('some of the body has come', () => fetcher.gauges().bodyBytes > 0);
    nowMs += 400;
    const slow = answered(await body);
    assert.equal(slow.truncated, 'time');
    assert.match(textOf(slow), /^(body)+$/);
    await until('all connections are closed', () => server.sockets.size === 0);
  });
});

test('a stopped request ends at once with its name, at whatever point it is', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket, head) => {
      if (head.includes('/body')) socket.write(`${OK}Content-Length: 10\r\n\r\nhel`);
    });
    const fetcher = place.fetcher({ socketsMax: 2 });
    const stop = new AbortController();
    const requests = ['mute', 'body', 'waiting'].map((path) =>
      fetcher.fetch(requestFor(server.url + path), stop.signal),
    );
    await until('two requests are under way', () => server.heads.length === 2 && fetcher.gauges().bodyBytes > 0);
    stop.abort();
    const ends = (await Promise.all(requests)).map(failed);
    assert.deepEqual(
      ends.map(({ cause }) => cause),
      ['aborted', 'aborted', 'aborted'],
    );
    assert.deepEqual(
      ends.map(({ startedAt }) => startedAt !== null),
      [true, true, false],
    );
    const late = failed(await fetcher.fetch(requestFor(server.url), stop.signal));
    assert.deepEqual([late.cause, late.startedAt], ['aborted', null]);
    assert.deepEqual(fetcher.gauges(), { http: 0, https: 0, kept: 0, bodyBytes: 0, waiting: 0 });
  });
});

test('closing ends requests under way, and requests after it are not sent', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve(() => {});
    const fetcher = place.fetcher();
    const pending = fetcher.fetch(requestFor(server.url));
    await until('the request has come', () => server.heads.length === 1);
    await fetcher.close();
    assert.equal(failed(await pending).cause, 'aborted');
    assert.equal(failed(await fetcher.fetch(requestFor(server.url))).cause, 'aborted');
    await turns(5);
    assert.equal(server.heads.length, 1);
  });
});

test('what is our own fault is thrown: a bad address, a failing question', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.write(`${OK}Content-Length: 3\r\n\r\nabc`));
    const fetcher = place.fetcher();
    await assert.rejects(fetcher.fetch(requestFor('no url')), TypeError);
    await assert.rejects(fetcher.fetch(requestFor('ftp://127.0.0.1/')), /neither http nor https/);
    const wantsBody = (): boolean => {
      throw new Error('mine');
    };
    await assert.rejects(fetcher.fetch(requestFor(server.url, { wantsBody })), /mine/);
    assert.deepEqual(fetcher.gauges(), { http: 0, https: 0, kept: 0, bodyBytes: 0, waiting: 0 });
  });
});

test('a fetcher that was never used leaves nothing behind', async () => {
  const fetcher = createFetcher({
    clock: createClock(),
    userAgent: 'x',
    from: 'y',
    socketsMax: 1,
    bodyMemoryBytes: 1,
    connectTimeoutMs: 1,
    responseTimeoutMs: 1,
    totalTimeoutMs: 1,
    verifyTls: true,
    allowPrivateAddresses: false,
    connectTo: [],
  });
  await fetcher.close();
});
