/** Every Lua file of the Redis store is a step or a part, says what it does, and is understood by a real server. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { loadSteps, STEPS } from '../src/store/redis/lua.ts';
import { startRedis } from './support/redis-server.ts';

const folder = fileURLToPath(new URL('../src/store/redis/lua', import.meta.url));
const textsIn = (pattern: string): [name: string, text: string][] =>
  globSync(`${folder}/${pattern}`)
    .toSorted()
    .map((path) => [basename(path, '.lua'), readFileSync(path, 'utf8')]);

test('redis: every step has its file, with a sentence and its keys, arguments and answer', () => {
  const steps = textsIn('*.lua');
  assert.deepEqual(steps.map(([name]) => name).toSorted(), STEPS.toSorted());
  for (const [name, text] of steps) {
    assert.match(text, /^-- [A-Z][^]*?\.\n--?/, name);
    for (const line of ['keys', 'args', 'answer']) assert.match(text, new RegExp(`^-- ${line}: \\S`, 'm'), name);
  }
});

test('redis: every part opens with a sentence, and some step uses it', () => {
  const uses = [...textsIn('*.lua'), ...textsIn('parts/*.lua')].flatMap(
    ([, text]) => /^-- uses: (.+)$/m.exec(text)?.[1]?.split(' ') ?? [],
  );
  const used = new Set([
    'begin',
    ...uses.flatMap((name) => (name === 'queue' ? ['queue-store', 'queue-files'] : name)),
  ]);
  for (const [name, text] of textsIn('parts/*.lua')) {
    assert.match(text, /^-- [A-Z][^]*?[.:]/, name);
    assert.ok(used.has(name), `nothing uses ${name}`);
  }
});

test('redis: nothing but one part looks inside the text of a waiting link', () => {
  const inside = [...textsIn('*.lua'), ...textsIn('parts/*.lua')].filter(([, text]) => text.includes('://'));
  assert.deepEqual(
    inside.map(([name]) => name),
    ['waiting'],
  );
});

test('redis: no line of Lua is wider than 120 characters', () => {
  for (const [name, text] of [...textsIn('*.lua'), ...textsIn('parts/*.lua')])
    for (const line of text.split('\n')) assert.ok(line.length <= 120, `${name}: ${line}`);
});

test('redis: a server takes every step, for waiting links in Redis and in files', async () => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    for (const place of ['store', 'files'] as const)
      for (const [name, { lua }] of Object.entries(loadSteps(place)))
        assert.match(String(await redis.script('LOAD', lua)), /^[0-9a-f]{40}$/, `${name} (${place})`);
  } finally {
    redis.disconnect();
    await server.remove();
  }
});
