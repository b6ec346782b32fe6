/** Does a change of settings make the scope wider? */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopeName, type ScopeSettings } from '../src/folder/scope-name.ts';
import { isWider } from '../src/run/wider.ts';

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
  const lists = { excluded: [], seeds: 0 };
  const name = scopeName(WAS, lists);
  assert.match(name, /^[0-9a-f]{16}$/);
  const other = { ...WAS, sites: [{ name: 'a.example', scope: 'path' as const, delayMs: 99 }] };
  assert.equal(scopeName(other, lists), name);
  const names = [
    scopeName({ ...WAS, maxDepth: 3 }, lists),
    scopeName({ ...WAS, include: ['a'] }, lists),
    scopeName({ ...WAS, exclude: ['a'] }, lists),
    scopeName(WAS, { ...lists, excluded: ['x.example'] }),
    scopeName(WAS, { ...lists, seeds: 1 }),
  ];
  assert.equal(new Set([name, ...names]).size, 6);
});
