/** Google's tests of robots.txt: the assertions of its robots_test.cc whose arguments are plain strings. */

import { parseRobots, robotsDecision } from '../../src/politeness/robots.ts';
import { canonicalize } from '../../src/url/canonical.ts';
import { compared, leftOut, type Case, type Suite, type Verdict } from './suite.ts';

const STRING = '"(?:[^"\\\\]|\\\\.)*"';
/** A test begins, a name stands for strings that follow each other, or something is asserted. */
const STATEMENT = new RegExp(
  [
    `TEST\\(\\w+,\\s*(?<test>\\w+)\\)`,
    `(?:absl::string_view|std::string)\\s+(?<name>\\w+)\\s*(?:=|\\()\\s*(?<value>(?:${STRING}\\s*)+)\\)?;`,
    `EXPECT_(?<expected>TRUE|FALSE)\\(\\s*IsUserAgentAllowed\\((?<given>(?:${STRING}|[^";])*?)\\)\\s*\\);`,
  ].join('|'),
  'g',
);

/** Where we read another way, and mean it. */
const MEANT: Readonly<Record<string, string>> = {
  GoogleOnly_SystemTest: 'it asks for a crawler without a name, or an address without a host',
  GoogleOnly_IndexHTMLisDirectory: 'index.html is a page of its own to us',
};

export const googleRobots: Suite = {
  name: 'Google, robots.txt',
  from: 'https://github.com/google/robotstxt, robots_test.cc',
  isMine: (path) => /(?:^|\/)robots_test\.cc$/.test(path),
  *cases(file, bytes): Generator<Case> {
    let test = '';
    let names = new Map<string, string>();
    for (const { groups = {} } of bytes.toString().matchAll(STATEMENT)) {
      const { name, value, expected, given } = groups;
      if (groups.test !== undefined) [test, names] = [groups.test, new Map()];
      else if (name !== undefined) names.set(name, joined(value!));
      else
        yield {
          name: `${file}: ${test}: ${given!.replaceAll(/\s+/g, ' ')}`,
          verdict: judge(test, names, [expected!, given!]),
        };
    }
  },
};

const judge = (test: string, names: ReadonlyMap<string, string>, [expected, given]: [string, string]): Verdict => {
  const meant = MEANT[test];
  if (meant !== undefined) return leftOut(meant);
  const [text, agent, url] = given
    .split(new RegExp(`,(?=(?:[^"]|${STRING})*$)`))
    .map((one) => (one.trim().startsWith('"') ? joined(one) : names.get(one.trim())));
  if (text === undefined || agent === undefined || url === undefined) return leftOut('its arguments are computed');
  const address = canonicalize(url);
  if (typeof address === 'string') return leftOut('it asks for something that is no address');
  if (address.url !== url) return leftOut('the address is not written as we ask for it');
  if (PLAIN_ESCAPED.test(text)) return leftOut('RFC 9309, 2.2.2: an escaped letter is that letter');
  if (!/^[\w-]+$/.test(agent)) return leftOut('no crawler has such a name');
  const { verdict, rules, crawlDelayMs } = parseRobots(text, agent);
  const record = { origin: address.origin, fetchedAt: 0, expiresAt: 0, verdict, rules, crawlDelayMs, failures: 0 };
  return compared(robotsDecision(record, address.path).allowed, expected === 'TRUE');
};

const PLAIN_ESCAPED = /%(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' };

/** The strings of C++ that follow each other are one; their bytes are UTF-8. */
const joined = (literals: string): string => {
  const text = [...literals.matchAll(new RegExp(STRING, 'g'))].map(([literal]) => literal.slice(1, -1)).join('');
  const bytes = Buffer.from(text).toString('latin1');
  const plain = bytes.replaceAll(/\\(?:x([0-9a-fA-F]{2})|(.))/g, (_, hex?: string, char = '') =>
    hex === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1').toString();
};
