/** Does a change of settings make the scope wider? */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { scopeName, type ScopeSettings } from '../src/folder/scope-name.ts';
import { isWider } from '../src/run/wider.ts';

const dir = mkdtempSync(join(tmpdir(), 'gossamer-scope-name-'));
after(() => rmSync(dir, { recursive: true }));

const WAS: ScopeSettings = {
  scope: 'host',
  maxDepth: 2,
  include: ['a', 'b'],
  exclude: ['c', 'd'],
  types: ['html'],
  sites: [{ name: 'a.example', scope: 'path', delayMs: 1 }],
};

test('more depth, a wider kind, fewer exclusions, other inclusions and more types are wider', () => {
  const changes: readonly Partial<ScopeSettings>[] = [
    { maxDepth: 3 },
    { maxDepth: null },
    { scope: 'site' },
    { scope: 'any' },
    { include: [] },
    { include: ['a', 'e'] },
    { exclude: ['c'] },
    { types: ['html', 'pdf'] },
    { sites: [] },
    { sites: [{ name: 'a.example', scope: 'site' }] },
  ];
  for (const change of changes) assert.equal(isWider(WAS, { ...WAS, ...change }), true, JSON.stringify(change));
});

test('the same or less is not: pages of a whole crawl are not read again for it', () => {
  const changes: readonly Partial<ScopeSettings>[] = [
    {},
    { maxDepth: 1 },
    { scope: 'page' },
    { include: ['a'] },
    { exclude: ['c', 'd', 'e'] },
    { sites: [{ name: 'a.example', scope: 'path', delayMs: 5 }] },
  ];
  for (const change of changes) assert.equal(isWider(WAS, { ...WAS, ...change }), false, JSON.stringify(change));
  const { include: _, ...open } = WAS;
  assert.equal(isWider({ ...open, include: [] }, WAS), false, 'everything was included');
});

test('what decides about links has one name, whatever else changes', () => {
  const name = scopeName(dir, WAS);
  assert.match(name, /^[0-9a-f]{16}$/);
  const other = { ...WAS, sites: [{ name: 'a.example', scope: 'path' as const, delayMs: 99 }] };
  assert.equal(scopeName(dir, other), name);
  const names = [
    scopeName(dir, { ...WAS, maxDepth: 3 }),
    scopeName(dir, { ...WAS, include: ['a'] }),
    scopeName(dir, { ...WAS, exclude: ['a'] }),
  ];
  writeFileSync(join(dir, 'exclude.txt'), 'x.example\n');
  names.push(scopeName(dir, WAS));
  writeFileSync(join(dir, 'seeds.txt'), 'y.example\n');
  names.push(scopeName(dir, WAS));
  assert.equal(new Set([name, ...names]).size, 6);
});
