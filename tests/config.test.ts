/** Settings from a file, from flags, and written back: what is meant, and what is refused with its place. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { CONFIG_FLAG, readConfigFile } from '../src/cli/config-file.ts';
import { ALIASES_MAX, CONFIG_BYTES_MAX } from '../src/cli/config-text.ts';
import { readFlags } from '../src/cli/flags.ts';
import { givenSettings, SETTING_FLAGS, SETTINGS_SHOWN } from '../src/cli/setting-flags.ts';
import { completeSettings, readText, UsageError } from '../src/model/read-settings.ts';
import { SETTING_NAMES, type SettingName } from '../src/model/setting-table.ts';
import type { Settings } from '../src/model/settings.ts';
import { writeSetting } from '../src/model/write-setting.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-config-'));
after(() => rmSync(home, { recursive: true }));

const fileWith = (text: string, name = 'crawl.yaml'): string => {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
};

const WHOLE = {
  yaml: `# a comment
email: me@example.org
user-agent: MyBot/1.0
seeded-only: true
sitemaps: false
max-pages: 10000
max-duration: none
max-depth: null
max-waiting-per-site: ~
delay: 1.5s
timeout: 90s
body-max: 512KiB
disk-reserve: 1024
connect-to: ["*:80:127.0.0.1:8080", "*:443:127.0.0.1:8443"]
keep: none
dir: made/here
seeds: [example.org, "https://example.com/news/"]
exclude-file: ../exclude.txt
hooks: ./hooks.js
`,
  json: `{
\t"email": "me@example.org", "user-agent": "MyBot/1.0", "seeded-only": true, "sitemaps": false,
\t"max-pages": 10000, "max-duration": "none", "max-depth": null, "max-waiting-per-site": null,
\t"delay": "1.5s", "timeout": "90s", "body-max": "512KiB", "disk-reserve": 1024,
\t"connect-to": [
\t\t"*:80:127.0.0.1:8080",
\t\t"*:443:127.0.0.1:8443"
\t],
\t"keep": "none", "dir": "made/here", "seeds": ["example.org", "https://example.com/news/"],
\t"exclude-file": "../exclude.txt", "hooks": "./hooks.js"
}
`,
};

for (const [name, text] of [
  ['crawl.yaml', WHOLE.yaml],
  ['crawl.YML', WHOLE.yaml],
  ['crawl.json', WHOLE.json],
  ['bom.json', `\uFEFF${WHOLE.json}`],
] as const) {
  test(`${name} gives the settings that its flags would, with paths relative to it`, async () => {
    assert.deepEqual(await readConfigFile(fileWith(text, name)), {
      settings: {
        email: 'me@example.org',
        userAgent: 'MyBot/1.0',
        scope: 'site',
        sitemaps: false,
        maxPages: 10_000,
        maxDurationMs: null,
        maxDepth: null,
        maxWaitingPerSite: null,
        delayMs: 1_500,
        timeoutMs: 90_000,
        bodyBytesMax: 524_288,
        diskReserveBytes: 1_024,
        connectTo: ['*:80:127.0.0.1:8080', '*:443:127.0.0.1:8443'],
        keep: 'none',
        hooks: join(home, 'hooks.js'),
      },
      dir: join(home, 'made', 'here'),
      seeds: { files: [], urls: ['example.org', 'https://example.com/news/'] },
      excludeFile: join(home, '..', 'exclude.txt'),
    });
  });
}

test('a file can name a seed file, one rule without a list, an alias, and no module at all', async () => {
  const config = await readConfigFile(
    fileWith(
      'seeds: lists/seeds.txt\nconnect-to: "*:80:127.0.0.1:8080"\ndelay: &wait 5s\ntrouble-delay: *wait\nhooks: ""\n',
    ),
  );
  assert.deepEqual(config.seeds, { files: [join(home, 'lists', 'seeds.txt')], urls: [] });
  assert.deepEqual(config.settings, {
    connectTo: ['*:80:127.0.0.1:8080'],
    delayMs: 5_000,
    troubleDelayMs: 5_000,
    hooks: '',
  });
});

test('the example in the documentation is a file that is understood', async () => {
  const page = readFileSync(new URL('../docs/how-to/configure.md', import.meta.url), 'utf8');
  const config = await readConfigFile(fileWith(/```yaml\n([^]*?)```/.exec(page)![1]!));
  assert.deepEqual(
    [config.settings.maxPages, config.settings.delayMs, config.seeds?.files[0]],
    [10_000, 10_000, join(home, 'seeds.txt')],
  );
});

test('a URL of a module is left as it is', async () => {
  assert.equal(
    (await readConfigFile(fileWith('hooks: file:///srv/hooks.js\n'))).settings.hooks,
    'file:///srv/hooks.js',
  );
});

type Wrong = readonly [what: string, text: string, says: string | RegExp];

const WRONG: readonly Wrong[] = [
  [
    'a slip in a name',
    'delay: 5s\nmax-page: 10\n',
    'line 2 column 1: there is no setting "max-page" (did you mean max-pages?)',
  ],
  ['a name with dashes', '--delay: 5s\n', 'line 1 column 1: there is no setting "--delay" (did you mean delay?)'],
  [
    'a name of the library',
    'bodyBytesMax: 10KiB\n',
    'line 1 column 1: there is no setting "bodyBytesMax" (did you mean body-max?)',
  ],
  [
    'a name that resembles none',
    'frobnicate: 10\n',
    'line 1 column 1: there is no setting "frobnicate"; "gossamer help settings" lists all',
  ],
  [
    'a flag that is no setting',
    'log-level: debug\n',
    'line 1 column 1: log-level is not kept in a file: give --log-level on the command line',
  ],
  ['a name given twice', 'delay: 5s\n\ndelay: 6s\n', 'line 3 column 1: delay is given twice, first in line 1'],
  [
    'a time with a unit that is none',
    'delay: 5 parsecs\n',
    'line 1 column 8: delay "5 parsecs" is not understood: write a time in seconds, or with its unit, such as 500ms, 90s, 10m or 24h',
  ],
  [
    'a count that is a text',
    'max-pages: many\n',
    'line 1 column 12: max-pages "many" is not understood: write a whole number, or none',
  ],
  [
    'a count with a fraction',
    'max-pages: 1.5\n',
    'line 1 column 12: max-pages "1.5" is not understood: write a whole number, or none',
  ],
  ['a count below its least', 'max-pages: 0\n', 'line 1 column 1: max-pages 0 is not understood: the least is 1'],
  [
    'none where there must be a value',
    'fetchers: none\n',
    'line 1 column 11: fetchers "none" is not understood: write a whole number',
  ],
  [
    'null where there must be a value',
    'delay: null\n',
    'line 1 column 8: delay null is not understood: write a time in seconds, or with its unit, such as 500ms, 90s, 10m or 24h',
  ],
  [
    'a name with nothing behind it',
    'max-pages:\n',
    'line 1 column 11: max-pages has no value: write a whole number, or none',
  ],
  [
    'a switch that is a text',
    'seeded-only: yes\n',
    'line 1 column 14: seeded-only "yes" is not understood: write true or false',
  ],
  ['a text that is a number', 'user-agent: 5\n', 'line 1 column 13: user-agent 5 is not understood: give a text'],
  [
    'a choice that is none',
    'keep: some\n',
    'line 1 column 1: keep "some" is not understood: choose one of all, text, none',
  ],
  [
    'an address that is none',
    'email: me\n',
    'line 1 column 1: email "me" is not an e-mail address: give one where a site owner reaches you',
  ],
  [
    'a list where one value belongs',
    'delay: [5s]\n',
    /line 1 column 8: delay takes one value, not a list: write a time/,
  ],
  [
    'a mapping where a value belongs',
    'delay:\n  least: 5s\n',
    'line 2 column 3: delay has values inside values: write a plain one, or a list of plain ones',
  ],
  [
    'a list in a list',
    'connect-to: [[a]]\n',
    'line 1 column 14: connect-to has values inside values: write a plain one, or a list of plain ones',
  ],
  [
    'a list with a number in it',
    'connect-to: [80]\n',
    'line 1 column 13: connect-to 80 is not understood: give a list of texts',
  ],
  [
    'a rule that is none',
    'connect-to:\n  - "*:80:127.0.0.1:8080"\n  - nonsense\n',
    /line 3 column 5: connect-to "nonsense" is not understood: write HOST:PORT:ADDR:PORT/,
  ],
  [
    'a rule without its quotes',
    'connect-to: *:80:127.0.0.1:8080\n',
    /line 1 column 13: connect-to \*:80:127\.0\.0\.1:8080 stands for nothing: put it in quotes/,
  ],
  [
    'a seed that is none',
    'seeds:\n  - example.org\n  - ftp://example.org/\n',
    /line 3 column 5: "ftp:\/\/example\.org\/" .*: give a domain, host or URL/,
  ],
  ['a seed that is a number', 'seeds: [5]\n', 'line 1 column 9: 5 is not a seed: give a domain, host or URL'],
  ['a path that is none', 'dir: [a]\n', 'line 1 column 6: dir is not a path: write one, relative to this file'],
  [
    'an empty path',
    'exclude-file: ""\n',
    'line 1 column 15: exclude-file is not a path: write one, relative to this file',
  ],
  ['an empty file', '', /line 1 column 1: this is not a mapping: write names and values, such as delay: 5s/],
  ['a file of comments', '# delay: 5s\n', /: this is not a mapping/],
  ['a list', '- delay\n', 'line 1 column 1: this is not a mapping: write names and values, such as delay: 5s'],
  ['a name that is a list', '? [delay]\n: 5s\n', 'line 1 column 3: this is not a name: write one such as delay'],
  [
    'a quote that does not end',
    'delay: 5s\nemail: "me\n',
    /line \d column \d+: this is not YAML: missing closing "quote/,
  ],
  ['a tab in front', 'delay: 5s\n\tkeep: all\n', /line 2 column \d+: this is not YAML: /],
  ['a tag', 'delay: !wait 5s\n', 'line 1 column 8: this is not YAML: unresolved tag: !wait'],
  ['two documents', 'delay: 5s\n---\nkeep: all\n', 'line 2 column 1: this is not YAML: only one document can be in it'],
  ['a merge key', '<<: { delay: 5s }\n', /line 1 column 5: << has values inside values/],
  ['nesting without an end', `connect-to: ${'['.repeat(10_000)}`, /this is not YAML: it is nested too deeply/],
  ['an alias that holds itself', 'connect-to: &all [*all]\n', /line 1 column 19: connect-to \*all stands for nothing/],
  [
    'aliases without an end',
    `keep: &one all\nconnect-to: [${'*one, '.repeat(ALIASES_MAX + 1)}]\n`,
    /line 2 column \d+: there are more than 100 aliases/,
  ],
];

const refusal = async (path: string): Promise<string> => {
  let message = '';
  await assert.rejects(readConfigFile(path), (error) => {
    assert.ok(error instanceof UsageError, String((error as Error).stack));
    message = error.message;
    return true;
  });
  assert.doesNotMatch(message, /\n/);
  return message;
};

describe('a file is refused in one sentence with its place', () => {
  for (const [what, text, says] of WRONG) {
    test(what, async () => {
      const path = fileWith(text);
      const message = await refusal(path);
      if (typeof says === 'string') assert.equal(message, `${path} ${says}`);
      else assert.match(message, says);
      assert.ok(message.startsWith(`${path} line `), message);
    });
  }
});

const WRONG_JSON: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  [
    'a comma too many',
    '{\n  "delay": "5s",\n}\n',
    /line 3 column 1: this is not JSON: expected double-quoted property name$/,
  ],
  [
    'a word without quotes',
    '{\n  "delay": five\n}\n',
    /line 2 column 12: this is not JSON: unresolved plain scalar "five"/,
  ],
  ['a comment', '{\n  // wait\n  "delay": "5s"\n}\n', /line 2 column 3: this is not JSON/],
  ['single quotes', `{ "delay": '5s' }`, /line 1 column 12: this is not JSON: a text has double quotes$/],
  ['YAML', 'delay: 5s\n', /line 1 column \d+: this is not JSON/],
  [
    'a name given twice',
    '{ "delay": "5s",\n "delay": "6s" }',
    /line 2 column 2: delay is given twice, first in line 1$/,
  ],
  ['a value that is wrong', '{ "delay": -5 }', /line 1 column 12: delay "-5" is not understood/],
  ['nothing', '', /line 1 column 1: this is not a mapping/],
  ['a list', '[]', /line 1 column 1: this is not a mapping: write names and values, such as \{ "delay": "5s" \}$/],
];

describe('a JSON file is JSON, and refused in one sentence if it is not', () => {
  for (const [what, text, says] of WRONG_JSON) {
    test(what, async () => {
      const path = fileWith(text, 'crawl.json');
      const message = await refusal(path);
      assert.match(message, says);
      assert.ok(message.startsWith(`${path} line `), message);
    });
  }
});

test('a file of another kind, one that is not there, a directory and one that is too large are refused', async () => {
  assert.equal(
    await refusal('crawl.toml'),
    '--config "crawl.toml" is neither YAML nor JSON: name it .yaml, .yml, .json',
  );
  assert.match(await refusal(join(home, 'nothing.yaml')), /nothing\.yaml" cannot be read: it does not exist$/);
  mkdirSync(join(home, 'folder.yaml'));
  assert.match(await refusal(join(home, 'folder.yaml')), /folder\.yaml" cannot be read: it is a directory$/);
  assert.match(
    await refusal(fileWith(`# ${'x'.repeat(CONFIG_BYTES_MAX)}`)),
    /crawl\.yaml" has 1 MiB, and settings have at most 1 MiB/,
  );
});

const given = (...args: readonly string[]): Partial<Settings> =>
  givenSettings(readFlags(args, [...SETTING_FLAGS, CONFIG_FLAG], 'crawl'));

test('every switch can be turned off', () => {
  const old = 'seeded-only';
  assert.deepEqual([given(`--${old}`), given(`--no-${old}`)], [{ scope: 'site' }, { scope: 'any' }]);
  for (const { name, value, isValue } of SETTING_FLAGS.filter((flag) => flag.name !== old)) {
    if (value !== undefined && !isValue) assert.throws(() => given(`--no-${name}`), /there is no flag/);
    else assert.deepEqual([Object.values(given(`--${name}`)), Object.values(given(`--no-${name}`))], [[true], [false]]);
  }
  assert.throws(() => given('--no-sitemaps=yes'), /--no-sitemaps takes no value/);
  assert.throws(() => given('--no-sitemap'), /there is no flag --no-sitemap \(did you mean --no-sitemaps\?\)/);
});

test('none lifts a limit and empties a list, and is no value of anything else', () => {
  assert.deepEqual(
    given(
      '--max-pages',
      'none',
      '--max-duration=none',
      '--max-depth',
      'none',
      '--max-pages-per-site',
      'none',
      '--max-waiting-per-site',
      'none',
      '--connect-to',
      'none',
      '--keep',
      'none',
    ),
    {
      maxPages: null,
      maxDurationMs: null,
      maxDepth: null,
      maxPagesPerSite: null,
      maxWaitingPerSite: null,
      connectTo: [],
      keep: 'none',
    },
  );
  for (const flag of ['--delay', '--fetchers', '--parsers', '--body-max'])
    assert.throws(() => given(flag, 'none'), UsageError);
  for (const name of ['fetchers', 'parsers', 'delayMs'] as const)
    assert.throws(() => completeSettings({ email: 'me@example.org', [name]: null }, 2), UsageError);
});

test('a value that is written reads back as the same value', () => {
  const values: readonly (readonly [SettingName, unknown, string])[] = [
    ['delayMs', 0, '0s'],
    ['delayMs', 90_000, '90s'],
    ['delayMs', 1_500, '1500ms'],
    ['delayMs', 7_200_000, '2h'],
    ['delayMs', 172_800_000, '2d'],
    ['delayMs', 120_000, '2m'],
    ['bodyBytesMax', 2_048, '2KiB'],
    ['bodyBytesMax', 1_500, '1500B'],
    ['diskReserveBytes', 0, '0B'],
    ['diskReserveBytes', 3 * 1024 ** 4, '3TiB'],
  ];
  for (const [name, value, text] of values) {
    assert.equal(writeSetting(name, value), text);
    assert.deepEqual(readText(name, text), { value });
  }
});

test('every setting has its place in the help', () => {
  assert.deepEqual(SETTINGS_SHOWN.toSorted(), SETTING_NAMES.toSorted());
});
