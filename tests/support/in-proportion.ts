/** Does work take time in proportion to its size? It is measured against itself, so that no machine is too slow. */

import assert from 'node:assert/strict';

/** What takes less needs no further look: at these sizes anything worse than in proportion takes minutes. */
const SHORT_MS = 2_000;
const PARTS = 8;
/** In proportion the whole costs as much as its parts together, quadratic work PARTS times as much. */
const TIMES_MAX = PARTS / 2;

/** `work` does as much as that size asks for; its CPU counts, so that a busy machine does not. */
export const assertInProportion = (what: string, size: number, work: (size: number) => void): void => {
  const wholeMs = cpuMsOf(() => work(size));
  if (wholeMs < SHORT_MS) return;
  const partMs = cpuMsOf(() => work(Math.floor(size / PARTS)));
  assert.ok(
    wholeMs < TIMES_MAX * PARTS * partMs,
    `${what}: ${wholeMs} ms of CPU for the whole, ${partMs} ms for a part of ${PARTS}`,
  );
};

const cpuMsOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};
