/** Loads the steps that Redis runs: one Lua file each, with the shared parts that it names put before it. */

import { readFileSync } from 'node:fs';
import type { FrontierPlace } from '../../model/settings.ts';
import { SITE_STATE } from '../site-state.ts';

export const STEPS = [
  'admit',
  'beat',
  'begin',
  'census',
  'claim',
  'files-admit',
  'files-opened',
  'files-plan',
  'files-replace',
  'files-sites',
  'fill',
  'fill-crawl',
  'find',
  'forget',
  'free',
  'freed',
  'indexes',
  'keep-rules',
  'lock',
  'mark',
  'members',
  'moved',
  'read',
  'ready',
  'release',
  'settle',
  'take-back',
  'touch',
  'views',
  'write',
  'written',
] as const;

export type StepName = (typeof STEPS)[number];

/** One atomic step on one shard, or on what is of the whole crawl. */
export interface LuaStep {
  /** Names of its keys, in order; each is a local variable in it, by what stands before a colon. */
  readonly keys: readonly string[];
  readonly lua: string;
}

const fileOf = (name: string): string => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');

/** The words of a line of the header: `-- keys: count due lease`. */
const wordsOf = (text: string, line: 'keys' | 'uses' | 'flags' | 'counts'): string[] =>
  (new RegExp(`^-- ${line}: (.+)$`, 'm').exec(text) ?? ['', ''])[1]!.split(' ').filter(Boolean);

/** The part `queue` is another one where waiting links lie in files. */
const partsOf = (text: string, place: FrontierPlace, put = new Set<string>()): string =>
  wordsOf(text, 'uses')
    .map((word) => (word === 'queue' ? `queue-${place}` : word))
    .map((name) => {
      if (put.has(name)) return '';
      put.add(name);
      const part = fileOf(`parts/${name}`);
      return partsOf(part, place, put) + part;
    })
    .join('');

const STATES = Object.entries(SITE_STATE)
  .map(([name, number]) => `local ${name.toUpperCase()} = '${number}'\n`)
  .join('');

/** Reads the fields of `count` that a step needs in any case. */
const readCounts = (fields: readonly string[]): string => {
  if (fields.length === 0) return '';
  const names = fields.map((field) => `'${field}'`).join(', ');
  return `for i, value in ipairs(redis.call('HMGET', count, ${names})) do counts[({ ${names} })[i]] = value end\n`;
};

/**
 * With the first line a step is refused as a whole when memory is full, and never stops half-way; one with `no-writes`
 * runs all the same.
 */
const loadStep = (name: StepName, place: FrontierPlace): LuaStep => {
  const text = fileOf(name);
  const keys = wordsOf(text, 'keys');
  if (keys[0] === '*') keys.length = 0;
  const [flag] = wordsOf(text, 'flags');
  const locals = keys.map((key, i) => `local ${key.replace(/:.*/, '')} = KEYS[${i + 1}]\n`).join('');
  const first = `#!lua${flag ? ` flags=${flag}` : ''}\n`;
  const begin = fileOf('parts/begin') + readCounts(wordsOf(text, 'counts'));
  return { keys, lua: first + locals + STATES + begin + partsOf(text, place) + text };
};

export const loadSteps = (place: FrontierPlace): Readonly<Record<StepName, LuaStep>> =>
  Object.fromEntries(STEPS.map((name) => [name, loadStep(name, place)])) as Record<StepName, LuaStep>;
