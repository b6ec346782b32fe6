/** Words and values as people write them: times without a unit, flags given twice, seeds of all kinds. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfigFile } from '../src/cli/config-file.ts';
import { readFlags } from '../src/cli/flags.ts';
import { givenSettings, SETTING_FLAGS } from '../src/cli/setting-flags.ts';
import type { Settings } from '../src/model/settings.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-words-'));
after(() => rmSync(home, { recursive: true }));

const fileWith = (text: string, name = 'crawl.yaml'): string => {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
};

test('a time without a unit is in seconds, in a flag and in a file', async () => {
  for (const [text, ms] of [
    ['2', 2_000],
    ['1.5', 1_500],
    ['.5', 500],
    ['0', 0],
    ['90', 90_000],
  ] as const) {
    const file = await readConfigFile(fileWith(`delay: ${text}\n`));
    assert.equal(file.settings.delayMs, ms);
    assert.equal(givenSettings(readFlags(['--delay', text], SETTING_FLAGS, 'crawl')).delayMs, ms);
  }
  const json = await readConfigFile(fileWith('{ "delay": 2, "timeout": "1.5" }', 'seconds.json'));
  assert.deepEqual([json.settings.delayMs, json.settings.timeoutMs], [2_000, 1_500]);
});

test('of a flag given twice the last one wins, also of a switch that is turned off; a repeatable one has both', () => {
  const given = (...args: string[]): Partial<Settings> => givenSettings(readFlags(args, SETTING_FLAGS, 'crawl'));
  assert.equal(given('--max-pages', '1', '--max-pages=2').maxPages, 2);
  assert.equal(given('--sitemaps', '--no-sitemaps').sitemaps, false);
  assert.equal(given('--no-sitemaps', '--sitemaps').sitemaps, true);
  assert.equal(given('--sitemaps', '--sitemaps').sitemaps, true);
  const rules = ['*:80:127.0.0.1:1', '*:443:127.0.0.1:2'];
  assert.deepEqual(given(...rules.flatMap((rule) => ['--connect-to', rule])).connectTo, rules);
});

test('the seeds of a file may be one URL or domain; a file of that name wins', async () => {
  const config = await readConfigFile(fileWith('seeds: https://example.org/news\n'));
  assert.deepEqual(config.seeds, { files: [], urls: ['https://example.org/news'] });
  assert.deepEqual((await readConfigFile(fileWith('seeds: example.org\n'))).seeds, {
    files: [],
    urls: ['example.org'],
  });
  const named = fileWith('example.com\n', 'example.org');
  assert.deepEqual((await readConfigFile(fileWith('seeds: example.org\n'))).seeds, { files: [named], urls: [] });
});
