/** A crawl that another version made is refused with a sentence that names the version to use. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutFault } from '../src/store/layouts.ts';

const faultFor = (found: number): { message: string; advice: string } =>
  layoutFault({ kind: 'crawl.db', what: 'the store "x"', found, known: 9 });

test('a layout of a release names that release', () => {
  assert.equal(faultFor(3).message, 'the store "x" has layout 3, this program knows 9');
  assert.equal(faultFor(3).advice, 'go on with gossamer 0.1.0, or start a new crawl');
});

test('a layout that is newer, or that no release had, says so', () => {
  assert.equal(faultFor(10).advice, 'it was made by a newer version: use that one');
  assert.equal(faultFor(2).advice, 'it was made before the first release, 0.1.0: start a new crawl');
});
