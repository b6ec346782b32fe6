/** html5lib-tests: the links of its inputs, by us and by parse5; and the encodings that its pages declare. */

import { decodeBytes } from '../../src/parse/charset.ts';
import { scanHtml } from '../../src/parse/html/scan.ts';
import { mayDiffer, oracleFindings } from '../../tests/support/oracle.ts';
import { compared, leftOut, type Case, type Suite, type Verdict } from './suite.ts';

/** As it is, and with a link behind it: whether that is one shows where the reader stood at the end. */
const judge = (input: string): Verdict => {
  const verdict = judgePage(input);
  return verdict.kind === 'passed' ? judgePage(`${input}<a href="/behind">`) : verdict;
};

/** Links as a set, because a tree moves some; the rest as it is. */
const judgePage = (page: string): Verdict => {
  const wordsOf = ({ title, base, canonical, language, hrefs }: ReturnType<typeof oracleFindings>): object => ({
    title,
    base,
    canonical,
    language,
    hrefs: [...hrefs].toSorted(),
  });
  const ours = wordsOf(scanHtml(page, { productToken: 'gossamer', xhtml: false, text: false }));
  const verdict = compared(ours, wordsOf(oracleFindings(page)));
  return verdict.kind === 'failed' && mayDiffer(page) ? leftOut('differs in a way that is known') : verdict;
};

interface TokenizerTest {
  readonly description: string;
  readonly input: string;
  readonly initialStates?: readonly string[];
  readonly doubleEscaped?: boolean;
}

export const tokenizer: Suite = {
  name: 'html5lib-tests, tokenizer',
  from: 'https://github.com/html5lib/html5lib-tests',
  isMine: (path) => /(?:^|\/)tokenizer\/[^/]+\.test$/.test(path),
  *cases(file, bytes): Generator<Case> {
    const { tests = [] } = JSON.parse(bytes.toString()) as { tests?: readonly TokenizerTest[] };
    for (const { description, input, initialStates, doubleEscaped } of tests) {
      const verdict =
        initialStates && !initialStates.includes('Data state')
          ? leftOut('it begins inside of a raw text element')
          : judge(doubleEscaped ? unescaped(input) : input);
      yield { name: `${file}: ${description}`, verdict };
    }
  },
};

const unescaped = (text: string): string =>
  text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

export const trees: Suite = {
  name: 'html5lib-tests, tree construction (now in WPT)',
  from: 'https://github.com/web-platform-tests/wpt, html/syntax/parsing/resources',
  isMine: (path) => /(?:^|\/)(?:tree-construction|parsing)\/(?:.*\/)?[^/]+\.dat$/.test(path),
  *cases(file, bytes): Generator<Case> {
    for (const [index, test] of sectionsOf(bytes.toString()).entries()) {
      const fragment = test.has('document-fragment');
      const verdict = fragment ? leftOut('it is a fragment') : judge(test.get('data') ?? '');
      yield { name: `${file}: number ${index + 1}`, verdict };
    }
  },
};

export const encodings: Suite = {
  name: 'html5lib-tests, encoding',
  from: 'https://github.com/html5lib/html5lib-tests',
  isMine: (path) => /(?:^|\/)encoding\/[^/]+\.dat$/.test(path),
  *cases(file, content): Generator<Case> {
    for (const [index, test] of sectionsOf(content.toString('latin1')).entries()) {
      const data = test.get('data') ?? '';
      // What is no UTF-8 keeps us from guessing that: as in the suite, windows-1252 is then what is left.
      const bytes = Buffer.from(`${data}${NOT_UTF_8}`, 'latin1');
      const { charset } = decodeBytes({ bytes, contentType: '', html: true });
      const expected = (test.get('encoding') ?? '').trim().toLowerCase();
      const verdict =
        data.length > PRESCAN_CHARS && charset !== expected
          ? leftOut('it is declared after the first 1,024 bytes')
          : compared(charset, expected);
      yield { name: `${file}: number ${index + 1}`, verdict };
    }
  },
};

/** As far as a page is searched for its encoding. */
const PRESCAN_CHARS = 1_024;
const NOT_UTF_8 = '\n\xe9\xe9\n';

/** Tests that begin with `#data`, each with its sections by name. */
const sectionsOf = (text: string): Map<string, string>[] => {
  const tests: Map<string, string>[] = [];
  let name = '';
  for (const line of text.split('\n')) {
    const heading = /^#(data|errors|new-errors|document|document-fragment|encoding|script-on|script-off)$/.exec(
      line,
    )?.[1];
    if (heading === 'data') tests.push(new Map());
    const test = tests.at(-1);
    if (test === undefined) continue;
    if (heading === undefined) test.set(name, test.has(name) ? `${test.get(name)}\n${line}` : line);
    else if (test.has(heading)) test.set(name, `${test.get(name) ?? ''}\n${line}`);
    else name = heading;
    if (heading !== undefined && heading !== 'data' && !test.has(heading)) test.set(heading, '');
  }
  return tests;
};
