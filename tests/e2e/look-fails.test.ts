/** The store is looked at beside the work, on a connection of its own: that one may fail without ending the crawl. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endBinaries } from '../support/binary.ts';
import { startRedis } from '../support/redis-server.ts';
import { runHere } from '../support/run-here.ts';
import { onStage, plainPlan } from '../support/stage.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

after(endBinaries);

test('a crawl goes on and ends as ever, though its server takes no further connections', async () => {
  const server = await startRedis();
  const proxy = await openTcpProxy(server.port);
  const store = `redis://127.0.0.1:${proxy.port}`;
  try {
    await onStage(plainPlan(4, 40), async (stage) => {
      const first = await runHere(stage, { settings: { store, maxPages: 10 } });
      assert.equal(first.end.reason, 'max-pages');
      // The store has one connection to Redis; a look at it would be the second.
      const { end, logged } = await runHere(stage, {
        again: true,
        settings: { store, maxPages: null },
        prepare: () => proxy.letThrough(1),
      });
      assert.equal(end.fault, null);
      assert.equal(end.reason, 'finished');
      assert.ok(proxy.refused() > 0, 'something wanted a second connection');
      assert.ok(logged.some((line) => line.startsWith('warn the store could not be looked at: ')));
    });
  } finally {
    await proxy.close();
    await server.remove();
  }
});
