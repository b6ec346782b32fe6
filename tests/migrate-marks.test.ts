/** What counts rows still means the same pages in a store that numbers them anew. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowMarks } from '../src/care/migrate/row-marks.ts';

test('a mark of rows is the number of those that it stood behind; other marks are as they were', () => {
  const marks = { seeds: 7, handled: 5, 'handled:abc': 0, 'reread:0f:abc': 9 };
  const rowMarks = createRowMarks(marks);
  for (const row of [1, 2, 5, 6, 9, 12]) rowMarks.note(row);
  assert.deepEqual(rowMarks.moved(marks), { seeds: 7, handled: 3, 'handled:abc': 0, 'reread:0f:abc': 5 });
});
