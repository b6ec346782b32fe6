/** llhttp's tests of responses: what it reads we must read in the same way; we read more, as browsers do. */

import { createBodyReader, readBody } from '../../src/fetch/body-reader.ts';
import { frame } from '../../src/fetch/framing.ts';
import { createHeadReader, readHead } from '../../src/fetch/response-head.ts';
import { compared, failed, leftOut, type Case, type Suite, type Verdict } from './suite.ts';

/** A heading, what is said of the case, the bytes, and what llhttp reports for them. */
const CASE = new RegExp(
  ['^#+ (?<title>.+)$', '<!-- meta=(?<meta>\\{.*?\\}) -->\\s*```http\\n(?<input>UPTO)```UPTO```log\\n(?<log>UPTO)```']
    .join('|')
    .replaceAll('UPTO', '(?:(?!```)[^])*'),
  'gm',
);

export const llhttp: Suite = {
  name: 'llhttp, responses',
  from: 'https://github.com/nodejs/llhttp, test/response',
  isMine: (path) => /(?:^|\/)test\/response\/[^/]+\.md$/.test(path),
  *cases(file, bytes): Generator<Case> {
    let title = '';
    for (const { groups = {} } of bytes.toString().matchAll(CASE)) {
      if (groups.title !== undefined) title = groups.title;
      else
        yield {
          name: `${file}: ${title}`,
          verdict: judge(JSON.parse(groups.meta!) as Meta, groups.input!, groups.log!),
        };
    }
  },
};

interface Meta {
  readonly type: string;
  readonly pause?: string;
  readonly skipBody?: boolean;
}

interface Read {
  readonly status: number;
  readonly body: string;
}

const judge = ({ type, pause, skipBody }: Meta, input: string, log: string): Verdict => {
  if (type !== 'response' || pause !== undefined || skipBody) return leftOut('it is about a setting of llhttp');
  const [first = ''] = log.split('message complete');
  const status = /headers complete status=(\d+)/.exec(first)?.[1];
  if (status === undefined || /error code/.test(first)) return leftOut('llhttp refuses it');
  if (!/span\[protocol\]="HTTP"/.test(first)) return leftOut('it is not HTTP');
  if (status.startsWith('1')) return leftOut('it is an interim response, and nothing follows');
  const ours = readResponse(bytesOf(input));
  if (ours === null) return failed('it is refused');
  return compared(ours, { status: Number(status), body: bodyOf(first) });
};

const readResponse = (bytes: Buffer): Read | null => {
  const span = { bytes, at: 0, end: bytes.length };
  const head = readHead(createHeadReader(), span);
  if (head === null || head.kind === 'bad') return null;
  let body = '';
  readBody(createBodyReader(frame(head)), span, {
    take: (from, count) => {
      body += from.bytes.toString('latin1', from.at, from.at + count);
      return true;
    },
  });
  return { status: head.status, body };
};

const ESCAPES: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', f: '\f' };

/** Line ends are CR LF, unless a backslash says otherwise. */
const bytesOf = (input: string): Buffer =>
  Buffer.from(
    input
      .replace(/\n$/, '')
      .replaceAll(/\\\n/g, '')
      .replaceAll('\n', '\r\n')
      .replaceAll(
        /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([rntf]))/g,
        (_, hex?: string, octal?: string, char?: string) =>
          hex !== undefined
            ? String.fromCharCode(Number.parseInt(hex, 16))
            : octal !== undefined
              ? String.fromCharCode(Number.parseInt(octal, 8))
              : ESCAPES[char!]!,
      ),
    'latin1',
  );

const bodyOf = (log: string): string =>
  [...log.matchAll(/span\[body\]=(?:"(.*)"|(cr|lf|\w+))$/gm)]
    .map(
      ([, text, sign]) => text?.replaceAll('\\t', '\t').replaceAll('\\f', '\f') ?? { cr: '\r', lf: '\n' }[sign!] ?? '',
    )
    .join('');
