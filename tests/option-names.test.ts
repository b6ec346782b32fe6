/** What a caller of the library reads: names of options, where the command line has flags. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { complaintOf, fallbackOf } from '../src/model/read-settings.ts';
import { SETTING_NAMES, SETTINGS } from '../src/model/setting-table.ts';
import { inOptionNames } from '../src/run/option-names.ts';

test('flags become options, choices are written as values, and what a caller wrote is left alone', () => {
  const said: readonly (readonly [string, string])[] = [
    ['--max-pages 0 is not understood: the least is 1', 'maxPages 0 is not understood: the least is 1'],
    ['choose --keep text or --keep all, or omit it', "choose keep: 'text' or keep: 'all', or omit it"],
    ['give a domain, host or URL by --url', 'give a domain, host or URL by seeds'],
    ['--url: "ftp://x/"; skipped', 'seeds: "ftp://x/"; skipped'],
    ['--connect-to "--delay" is not understood', 'connectTo "--delay" is not understood'],
    ['raise it (ulimit --hard) or lower --concurrency', 'raise it (ulimit --hard) or lower concurrency'],
    ['less than --disk-reserve 2GiB: free some space', 'less than diskReserveBytes 2GiB: free some space'],
    ['http://a.example/x--delay is odd', 'http://a.example/x--delay is odd'],
    [
      'there is no crawl in "x": start one by "gossamer crawl <seed-file> --dir x"',
      'there is no crawl in "x": start one by crawl({ dir, seeds, email })',
    ],
  ];
  for (const [flags, options] of said) assert.equal(inOptionNames(flags), options);
});

test('every setting is named by its option when its value is wrong', () => {
  for (const name of SETTING_NAMES) {
    const why = complaintOf(name, Symbol.iterator as unknown);
    assert.equal(inOptionNames(`--${SETTINGS[name].flag} ${why}`), `${name} ${why}`);
    assert.doesNotMatch(why ?? '', /--[a-z]/);
  }
});

/** The doc comment above an option, as one line. */
const saidOf = (interfaceText: string, option: string): string | undefined =>
  new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  readonly ${option}\\??:`)
    .exec(interfaceText)?.[1]
    ?.replace(/\s*\n\s*\*?\s*/g, ' ')
    .trim();

test('every option has a comment with its default in the library reference, and it is the right one', () => {
  const page = readFileSync(new URL('../docs/reference/library.md', import.meta.url), 'utf8');
  for (const type of ['CrawlOptions', 'Settings']) {
    const text = new RegExp(`interface ${type} [^]*?\\n}`).exec(page)![0];
    const options = [...text.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name!);
    if (type === 'Settings') assert.deepEqual(options.toSorted(), SETTING_NAMES.toSorted());
    for (const option of options) {
      const said = saidOf(text, option);
      assert.match(said ?? '', /Default(?: `|: )|Required\./, `${type}.${option}: ${said}`);
      if (type === 'Settings') assertDefault(option as (typeof SETTING_NAMES)[number], said!);
    }
  }
});

/** A default in code marks is the value itself; one in words is of a setting whose default is none or depends. */
const assertDefault = (name: (typeof SETTING_NAMES)[number], said: string): void => {
  const written = / Default `([^`]*)`/.exec(said)?.[1];
  if (written === undefined)
    return assert.ok(['', null].includes(SETTINGS[name].fallback as string), `${name}: ${said}`);
  const value: unknown = fallbackOf(name, 2);
  assert.equal(
    written.replaceAll('_', ''),
    typeof value === 'string' ? value : JSON.stringify(value),
    `${name}: ${said}`,
  );
};
