/** The steps of one HTTP request in a fetch thread: their order, and what becomes of one that cannot be noted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FetchPage } from '../src/visit/parts.ts';
import type { Ledger } from '../src/ledger/writer.ts';
import { ThreadFault } from '../src/threads/fault.ts';
import { createRequestChain } from '../src/threads/request-chain.ts';
import { createVisitTimes } from '../src/threads/visit-times.ts';
import { createManualClock } from './support/manual-clock.ts';
import { onLoopback, requestFor } from './support/loopback.ts';

const WORKS = (): number => 7;
const IS_FULL = (): number => {
  throw Object.assign(new Error('no room for a note'), { advice: 'free space' });
};

interface Sent {
  readonly steps: readonly string[];
  readonly longestMs: number;
  readonly failed: unknown;
}

/** Sends a request for robots.txt, redirected once, to a server that tells of it, and gives the steps in order. */
const sent = async (sending: Ledger['sending'] | null): Promise<Sent> => {
  const steps: string[] = [];
  const clock = createManualClock();
  const times = createVisitTimes(clock);
  let failed: unknown = null;
  await onLoopback(async ({ serve, fetcher }) => {
    const { url } = await serve((socket) => {
      steps.push('seen by the server');
      clock.advance(300);
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    });
    const chain: FetchPage = createRequestChain({
      fetcher: fetcher({ clock }),
      times,
      reach: {
        judge: async (exchange) => {
          steps.push('judged');
          return exchange;
        },
      },
      meter: { request: (kind, exchange) => void steps.push(`metered: ${kind} ${exchange.kind}`) },
      ledger: sending && {
        sending: (request) => {
          steps.push(`noted: ${request.kind} ${request.site} ${request.lease}`);
          return sending(request);
        },
        ended: ({ number, tookMs, result }) => void steps.push(`ended: ${number} ${tookMs} ${result}`),
        close: async () => {},
      },
    });
    const context = { site: 'example.org', lease: 12, delayMs: 5_000, restMs: 0, rules: null, redirected: true };
    await chain(
      { ...requestFor(url), kind: 'robots', context, maySend: () => true },
      AbortSignal.timeout(60_000),
    ).catch((error: unknown) => (failed = error));
  });
  return { steps, longestMs: times.longestRequestMs(), failed };
};

test('a request is noted before it is sent, and its end is noted before it is counted', async () => {
  const { steps, longestMs } = await sent(WORKS);
  assert.deepEqual(steps, [
    'noted: follow example.org 12',
    'seen by the server',
    'ended: 7 300 404',
    'metered: robots answered',
    'judged',
  ]);
  assert.equal(longestMs, 300);
});

test('without a ledger it is sent, timed and counted all the same', async () => {
  const { steps, longestMs } = await sent(null);
  assert.deepEqual(steps, ['seen by the server', 'metered: robots answered', 'judged']);
  assert.equal(longestMs, 300);
});

test('a request that cannot be noted is not sent nor counted, and its failure stops the crawl', async () => {
  const { steps, failed } = await sent(IS_FULL);
  assert.deepEqual(steps, ['noted: follow example.org 12']);
  assert.ok(failed instanceof ThreadFault);
  assert.deepEqual([failed.message, failed.advice], ['no room for a note', 'free space']);
});
