/** Whose trouble is it? On a handed-in clock, with a network that is cut and mended by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../src/model/exchange.ts';
import type { FailureCause } from '../src/model/failure.ts';
import { createReach, type Means, type Reach } from '../src/visit/reach.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';

interface Scene {
  readonly clock: ManualClock;
  readonly reach: Reach;
  /** What cannot be used at the moment. */
  readonly broken: Set<Means>;
  /** Names that exist nowhere. */
  readonly gone: Set<string>;
  readonly asked: string[];
  readonly said: string[];
  answers(host: string): Promise<Exchange>;
  fails(host: string, cause: FailureCause): Promise<boolean>;
}

const onScene = (answered: readonly string[] = []): Scene => {
  const clock = createManualClock();
  const broken = new Set<Means>();
  const gone = new Set<string>();
  const asked: string[] = [];
  const said: string[] = [];
  let namedAt = -Infinity;
  const reach = createReach({
    clock,
    ask: async (origin, means) => {
      asked.push(`${means} ${origin}`);
      return !broken.has(means) && !gone.has(origin);
    },
    namedAt: () => namedAt,
    onCut: (means) => void said.push(`cut ${means}`),
    onBack: (means, ms) => void said.push(`back ${means} ${ms}`),
    answered,
  });
  const times = {
    ...{ lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null, resumed: null },
    ...{ totalMs: 100, sentBytes: 0, receivedBytes: 0 },
  };
  return {
    ...{ clock, reach, broken, gone, asked, said },
    answers: (host) => {
      namedAt = clock.now();
      return reach.judge({ kind: 'answered', url: `http://${host}/`, times } as Exchange);
    },
    fails: async (host, cause) => {
      const at = clock.now();
      const failed: Exchange = {
        ...{ kind: 'failed', url: `http://${host}/x`, startedAt: at - 100, endedAt: at },
        ...{ cause, unsure: false, detail: '', times },
      };
      const judged = await reach.judge(failed);
      return judged.kind === 'failed' && judged.unsure;
    },
  };
};

const SITES = ['a.example', 'b.example', 'c.example', 'd.example'];
const wellKnown = SITES.map((host) => `http://${host}`);

test('while others answer, a failure is that of its site, and nobody is asked', async () => {
  const { answers, fails, asked, clock } = onScene(wellKnown);
  for (const cause of ['refused', 'connect-timeout', 'response-timeout', 'dns'] as const) {
    clock.advance(10_000);
    await answers('a.example');
    assert.equal(await fails('x.example', cause), false, cause);
  }
  assert.deepEqual(asked, []);
});

test('when nobody has answered meanwhile, one that did before is asked; if it can be reached, the failure counts', async () => {
  const { fails, asked } = onScene(wellKnown);
  assert.equal(await fails('x.example', 'connect-timeout'), false);
  assert.deepEqual(asked, ['connections http://a.example']);
});

for (const [cause, means] of [
  ['no-name', 'names'],
  ['dns', 'names'],
  ['refused', 'connections'],
  ['connect-timeout', 'connections'],
  ['response-timeout', 'connections'],
] as const) {
  test(`when none of them can be reached, ${cause} blames nobody, and nothing is visited until one can`, async () => {
    const { clock, fails, broken, said, reach } = onScene(wellKnown);
    broken.add(means);
    assert.equal(await fails('x.example', cause), true);
    assert.equal(await fails('y.example', cause), true);
    assert.deepEqual(said, [`cut ${means}`]);
    let isPassed = false;
    const passed = reach.passable(new AbortController().signal).then(() => (isPassed = true));
    for (let n = 0; n < 5; n++) {
      clock.advance(5_000);
      await new Promise(setImmediate);
    }
    assert.equal(isPassed, false);
    broken.clear();
    clock.advance(5_000);
    await passed;
    assert.deepEqual(said, [`cut ${means}`, `back ${means} 30000`]);
  });
}

test('a name is believed missing when others are found before and after it was asked for once more', async () => {
  const { answers, fails, gone, asked, clock } = onScene(wellKnown);
  await answers('a.example');
  gone.add('http://x.example');
  assert.equal(await fails('x.example', 'no-name'), false);
  assert.equal(asked.filter((one) => one === 'names http://x.example').length, 1);
  assert.equal(asked.length, 3);
  clock.advance(1);
  assert.equal(await fails('y.example', 'no-name'), true, 'it is there now: the name server was mistaken for a moment');
});

test('where fewer than three sites ever answered, nobody can tell, and the failure counts', async () => {
  const { fails, broken, asked } = onScene(wellKnown.slice(0, 2));
  broken.add('names').add('connections');
  assert.equal(await fails('x.example', 'no-name'), false);
  assert.equal(await fails('x.example', 'refused'), false);
  assert.deepEqual(asked, []);
});

test('a failure in TLS or HTTP comes from a server that was reached, and one of our own stays ours', async () => {
  const { fails, broken, asked } = onScene(wellKnown);
  broken.add('names').add('connections');
  for (const cause of ['tls', 'reset', 'bad-response', 'address'] as const)
    assert.equal(await fails('x.example', cause), false, cause);
  assert.deepEqual(asked, []);
});

test('different ones are asked each time', async () => {
  const { fails, asked, clock } = onScene(wellKnown);
  for (let n = 0; n < 4; n++) {
    clock.advance(60_000);
    await fails('x.example', 'refused');
  }
  assert.deepEqual(
    asked.toSorted(),
    wellKnown.map((origin) => `connections ${origin}`),
  );
});
