/** Inputs whose cost grew faster than their size, as `npm run fuzz` found them; and that it still finds such ones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHttpComparison } from '../tools/fuzz/against-http.ts';
import { openHtmlComparison } from '../tools/fuzz/against-parse5.ts';
import { growthOf, isTrouble, troubleOf, type CostOf, type Part } from '../tools/fuzz/growth.ts';
import { PARTS } from '../tools/fuzz/parts.ts';
import { grown, makeShape, VARIED, type Shape } from '../tools/fuzz/shapes.ts';
import { createChance } from './support/broken-pages.ts';

const shape = (part: string, more: Partial<Shape> = {}): Shape => ({
  before: '',
  part,
  middle: '',
  close: '',
  after: '',
  ...more,
});

/** `[part, shape]`, each in its smallest form. */
const FOUND: readonly (readonly [part: string, shape: Shape])[] = [
  // The URL parser of Node sorts the different characters of a host: it is refused before that.
  ['url', shape(VARIED, { before: 'https://' })],
];

for (const [name, found] of FOUND) {
  test(`${name}: the cost of ${JSON.stringify(found)} does not grow faster than its size`, () => {
    const part = PARTS.find((one) => one.name === name)!;
    assert.equal(troubleOf(part, found), null);
  });
}

/** Work whose cost is counted, not measured: `steps` is what an input asks for. */
const counted = (steps: (input: string) => number): { part: Part; costOf: CostOf } => {
  let cost = 0;
  const part: Part = {
    name: 'counted',
    pieces: ['a', 'b', '<', '#'],
    charactersMin: 1_000,
    charactersMax: 64_000,
    harmlessMs: 10,
    work: (input) => (cost += steps(input)),
  };
  const costOf: CostOf = (work) => {
    cost = 0;
    work();
    return cost / 1e6;
  };
  return { part, costOf };
};

test('growth in proportion, also with a logarithm, is no trouble; a square is, unless it stays small', () => {
  const judge = (steps: (n: number) => number): boolean => {
    const { part, costOf } = counted(({ length }) => steps(length));
    return isTrouble(part, growthOf(part, shape('a'), costOf));
  };
  assert.equal(
    judge((n) => 1e4 * n),
    false,
  );
  assert.equal(
    judge((n) => 1e4 * n * Math.log2(n)),
    false,
  );
  assert.equal(
    judge((n) => n * n),
    true,
  );
  assert.equal(
    judge((n) => 10 * n ** 1.7),
    true,
  );
  assert.equal(
    judge((n) => (n * n) / 1e3),
    false,
    'it costs nothing at its largest',
  );
  assert.equal(
    judge((n) => 1e6 * n * n),
    true,
    'it is slow at its smallest',
  );
});

test('what is found is made as simple as it can be', () => {
  const { part, costOf } = counted((input) => (input.match(/</g) ?? []).length ** 2);
  const trouble = troubleOf(part, { before: 'ab', part: 'a<b', middle: 'b', close: 'a', after: 'b' }, costOf);
  assert.deepEqual(trouble?.shape, shape('<'));
});

test('an input has the length that was asked for, and pieces that count up', () => {
  const made = grown({ before: '[', part: 'a#,', middle: '|', close: '.', after: ']' }, 20);
  assert.equal(made, '[a0,a1,a2,a3,|....]');
  const chance = createChance(1);
  for (let i = 0; i < 200; i++) {
    const one = makeShape(chance, PARTS[i % PARTS.length]!.pieces);
    assert.ok(grown(one, 10_000).length < 60_000);
  }
});

test('every part can do its work on inputs of all its pieces', () => {
  for (const part of PARTS) for (const piece of part.pieces) part.work(grown(shape(piece), 600));
});

test('responses are read as node:http reads them, and pages as parse5 does', async () => {
  for (const comparison of [await openHttpComparison(), openHtmlComparison()]) {
    const chance = createChance(1);
    try {
      for (let i = 0; i < 300; i++) {
        const { verdict, says, input } = await comparison.try(chance);
        assert.notEqual(verdict, 'differs', `${says}: ${JSON.stringify(input)}`);
      }
    } finally {
      await comparison.close();
    }
  }
});
