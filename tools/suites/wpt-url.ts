/** Web Platform Tests, url: an address as they write it must lead to where its parsed form leads. */

import { canonicalize } from '../../src/url/canonical.ts';
import { compared, leftOut, type Case, type Suite, type Verdict } from './suite.ts';

interface UrlTest {
  readonly input: string;
  readonly base?: string | null;
  readonly href?: string;
  readonly failure?: boolean;
}

const judge = ({ input, base, href, failure }: UrlTest): Verdict => {
  if (typeof base === 'string' && !/^https?:/i.test(base)) return leftOut('no page has such a base');
  const given = typeof base === 'string' ? base : undefined;
  const ours = canonicalize(input, given);
  if (ours === 'too-long') return leftOut('it is over the ceiling');
  if (failure) {
    // A base that is no address is passed over, and a link may be whole without it.
    if (given !== undefined && URL.parse(given) === null) return leftOut('no page has such a base');
    return compared(typeof ours === 'string' ? ours : ours.url, 'not-a-url');
  }
  const theirs = canonicalize(href!);
  if (theirs === 'not-a-url') return leftOut('no name server knows such a host');
  return compared(textOf(ours), textOf(theirs));
};

const textOf = (address: ReturnType<typeof canonicalize>): string =>
  typeof address === 'string' ? address : address.url;

export const urls: Suite = {
  name: 'WPT, url',
  from: 'https://github.com/web-platform-tests/wpt, url/resources/urltestdata.json',
  isMine: (path) => /(?:^|\/)urltestdata(?:-javascript-only)?\.json$/.test(path),
  *cases(file, bytes): Generator<Case> {
    const tests = JSON.parse(bytes.toString()) as readonly (string | UrlTest)[];
    for (const test of tests) {
      if (typeof test === 'string') continue; // a comment
      const { input, base } = test;
      yield { name: `${file}: ${JSON.stringify(input)} on ${JSON.stringify(base ?? null)}`, verdict: judge(test) };
    }
  },
};

interface HostTest {
  readonly input: string;
  readonly output: string | null;
}

export const hosts: Suite = {
  name: 'WPT, hosts in other scripts',
  from: 'https://github.com/web-platform-tests/wpt, url/resources/toascii.json',
  isMine: (path) => /(?:^|\/)toascii\.json$/.test(path),
  *cases(file, bytes): Generator<Case> {
    for (const test of JSON.parse(bytes.toString()) as readonly (string | HostTest)[]) {
      if (typeof test === 'string') continue;
      const ours = canonicalize(`https://${test.input}/x`);
      const expected = test.output === null ? 'not-a-url' : canonicalize(`https://${test.output}/x`);
      yield { name: `${file}: ${JSON.stringify(test.input)}`, verdict: compared(textOf(ours), textOf(expected)) };
    }
  },
};
