/** How a crawl names itself: a bare product or a whole User-Agent, and the name that robots.txt speaks to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeSettings, UsageError } from '../src/model/read-settings.ts';
import type { Settings } from '../src/model/settings.ts';
import { USER_AGENT_CHARS_MAX } from '../src/model/user-agent.ts';
import { VERSION } from '../src/folder/version.ts';
import { checkUserAgent, productTokenOf, userAgentOf } from '../src/run/user-agent.ts';

const named = (given: Partial<Settings>): [header: string, token: string] => {
  const settings = completeSettings({ email: 'me@example.org', ...given }, 2);
  checkUserAgent(settings);
  return [userAgentOf(settings), productTokenOf(settings)];
};

test('a bare product is sent with the contact behind it', () => {
  assert.deepEqual(named({}), [`Gossamer/${VERSION} (+contact; me@example.org)`, 'gossamer']);
  assert.deepEqual(named({ userAgent: 'MyBot' }), ['MyBot (+contact; me@example.org)', 'mybot']);
  assert.deepEqual(named({ userAgent: 'MyBot/1.0' }), ['MyBot/1.0 (+contact; me@example.org)', 'mybot']);
});

test('a whole User-Agent is sent as it is, and its first product is the name for robots.txt', () => {
  for (const userAgent of [
    'MyBot/1.0 (+https://example.org/bot)',
    'MyBot (+https://example.org/bot) lib/2',
    'mybot/1.0 http://example.org',
  ])
    assert.deepEqual(named({ userAgent }), [userAgent, 'mybot']);
});

test('the name for robots.txt can be given apart, where it is part of the User-Agent', () => {
  const userAgent = 'Mozilla/5.0 (compatible; MyBot/1.0; +https://example.org/bot)';
  assert.deepEqual(named({ userAgent, robotsToken: 'MyBot' }), [userAgent, 'mybot']);
  assert.deepEqual(named({ userAgent: 'Bot3000/1 (+https://a.example/)', robotsToken: 'bot' })[1], 'bot');
  assert.deepEqual(named({ robotsToken: 'Gossamer' })[1], 'gossamer');
});

const WRONG: readonly (readonly [what: string, given: Partial<Settings>, sentence: RegExp])[] = [
  [
    'spaces and no URL',
    { userAgent: 'my bot' },
    /--user-agent "my bot" is not a product token: .* such as MyBot\/1\.0/,
  ],
  ['a URL without a host', { userAgent: 'MyBot/1.0 (+https://)' }, /is not a product token/],
  ['a line end', { userAgent: 'bot\r\nX-Evil: 1' }, /"bot\\r\\nX-Evil: 1" .* cannot be sent in a header/],
  ['a tab', { userAgent: 'bot\t(+https://example.org/)' }, /cannot be sent in a header/],
  ['a letter outside of ASCII', { userAgent: 'Bött/1.0 (+https://example.org/)' }, /cannot be sent in a header/],
  [
    'too many characters',
    { userAgent: `MyBot/1.0 (+https://example.org/${'a'.repeat(USER_AGENT_CHARS_MAX)})` },
    /--user-agent has 545 characters, and the most is 512: shorten it/,
  ],
  [
    'the name of all browsers',
    { userAgent: 'Mozilla/5.0 (compatible; MyBot/1.0; +https://example.org/bot)' },
    /no name for robots\.txt can be read from --user-agent .*: give it by --robots-token NAME/,
  ],
  [
    'a first product that robots.txt cannot name',
    { userAgent: 'Bot3000/1 (+https://example.org/)' },
    /no name for robots\.txt can be read .* --robots-token NAME/,
  ],
  [
    'a name for robots.txt that no site owner sees',
    { userAgent: 'MyBot/1.0', robotsToken: 'Other' },
    /--robots-token "Other" is not part of the User-Agent "MyBot\/1\.0 .*": site owners look there/,
  ],
  ['such a name with a version', { robotsToken: 'My/1' }, /--robots-token "My\/1" is not .*: use letters, - and _/],
  ['such a name with a star', { robotsToken: '*' }, /--robots-token "\*" is not .*: use letters, - and _/],
];

for (const [what, given, sentence] of WRONG)
  test(`a User-Agent with ${what} is refused in a sentence`, () =>
    assert.throws(
      () => named(given),
      (error: unknown) => error instanceof UsageError && sentence.test(error.message),
    ));
