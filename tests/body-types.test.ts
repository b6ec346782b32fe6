/** Which bodies are archived: names, media types, endings, and what is refused. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BODY_KINDS, bodyTypesOf, endingsOf, firstNotText, TEXT_KINDS } from '../src/model/body-types.ts';
import { completeSettings, readSetting, UsageError } from '../src/model/read-settings.ts';
import { isText } from '../src/parse/page.ts';
import { canonicalize } from '../src/url/canonical.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';

const wants = (names: string, type: string, ending = ''): boolean => bodyTypesOf(names.split(',')).wants(type, ending);

test('by default exactly what is read as text is archived', () => {
  const { wants: isWanted, wantsEnding } = bodyTypesOf(TEXT_KINDS);
  for (const type of [
    ...['text/html', 'text/plain', 'text/css', 'text/x-anything', 'application/xhtml+xml', 'application/xml', ''],
    ...['application/rss+xml', 'image/svg+xml', 'application/json', 'application/pdf', 'image/png', 'font/woff'],
    ...['application/octet-stream', 'application/ld+json', 'application/javascript', 'video/mp4', 'xml', '+xml'],
  ])
    assert.equal(isWanted(type, 'pdf'), isText(type), type);
  for (const kind of Object.values(BODY_KINDS)) assert.deepEqual(endingsOf(kind).filter(wantsEnding), []);
});

const WANTED: readonly (readonly [names: string, types: readonly string[], others: readonly string[]])[] = [
  ['html', ['text/html', 'application/xhtml+xml', ''], ['text/plain', 'application/rss+xml', 'application/pdf']],
  ['pdf', ['application/pdf', 'text/html', ''], ['text/plain', 'image/png']],
  ['json', ['application/json', 'application/ld+json', 'application/x-ndjson'], ['application/xml', 'text/plain']],
  ['image', ['image/png', 'image/svg+xml', 'image/x-icon'], ['video/mp4']],
  ['image/*', ['image/png', 'image/webp'], ['video/mp4', 'imagery/png']],
  ['application/ld+json', ['application/ld+json'], ['application/json']],
  ['office', ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'], ['application/pdf']],
  ['zip,font', ['application/zip', 'font/woff2'], ['application/pdf']],
  ['css,js', ['text/css', 'text/javascript', 'application/javascript'], ['text/plain']],
  ['all', ['text/html', 'application/pdf', 'x/y', 'application/octet-stream'], []],
];

for (const [names, types, others] of WANTED) {
  test(`--types ${names} archives ${types.filter(Boolean).join(', ')}${others.length > 0 ? `, not ${others.join(', ')}` : ''}`, () => {
    for (const type of types) assert.equal(wants(names, type), true, type);
    for (const type of others) assert.equal(wants(names, type), false, type);
  });
}

test('a type that says nothing is judged by the ending of its address', () => {
  assert.equal(wants('pdf', 'application/octet-stream', 'pdf'), true);
  assert.equal(wants('pdf', 'binary/octet-stream', 'pdf'), true);
  assert.equal(wants('pdf', 'application/octet-stream', 'exe'), false);
  assert.equal(wants('pdf', 'application/zip', 'pdf'), false);
});

describe('links to files are followed where their kind is wanted', () => {
  const judge = (names: string, url: string): string | null => {
    const address = canonicalize(url);
    assert.ok(typeof address === 'object');
    const { wantsEnding } = bodyTypesOf(names.split(','));
    return createScope({ ...NO_RULES, wantsEnding }).judge(address, 'a.example', 0);
  };
  for (const [names, followed, refused] of [
    ['html', '/a', '/a.pdf'],
    ['text', '/a.txt', '/a.css'],
    ['pdf', '/a.PDF?page=2', '/a.png'],
    ['image', '/a.png', '/a.pdf'],
    ['image/png', '/a.jpg', '/a.mp4'],
    ['application/*', '/a.zip', '/a.png'],
    ['application/ld+json', '/a', '/a.zip'],
    ['office,zip', '/a.docx', '/a.pdf'],
  ] as const)
    test(`--types ${names}: ${followed}, not ${refused}`, () => {
      assert.equal(judge(names, `https://a.example${followed}`), null);
      assert.equal(judge(names, `https://a.example${refused}`), 'not-text');
    });
  test('--types all: every one', () => {
    for (const ending of Object.values(BODY_KINDS).flatMap(endingsOf))
      assert.equal(judge('all', `https://a.example/file.${ending}`), null, ending);
  });
});

test('no ending is in two kinds', () => {
  const endings = Object.values(BODY_KINDS).flatMap(endingsOf);
  assert.equal(new Set(endings).size, endings.length);
});

test('a name that is none is refused with the one that was meant', () => {
  const refused = (text: string): string => {
    try {
      completeSettings({ email: 'a@b.example', types: readSetting('types', text) as string[] }, 2);
    } catch (error) {
      assert.ok(error instanceof UsageError);
      return error.message;
    }
    return '';
  };
  assert.match(
    refused('html,images'),
    /^--types "images" is not a type \(did you mean image\?\): write names out of html,/,
  );
  assert.match(refused('pfd'), /did you mean pdf\?/);
  assert.match(refused('frobnicate'), /^--types "frobnicate" is not a type: write/);
  assert.match(refused('html,,pdf'), /^--types "" is not a type/);
  assert.match(refused('application/'), /is not a type/);
  for (const text of ['all', ' HTML , Pdf', 'application/LD+JSON,image/*']) assert.equal(refused(text), '', text);
});

test('the first name that is not text all through is found', () => {
  assert.equal(firstNotText(TEXT_KINDS), null);
  assert.equal(firstNotText(['html', 'css', 'text/csv', 'image/svg+xml']), null);
  assert.equal(firstNotText(['html', 'js', 'pdf']), 'js');
  assert.equal(firstNotText(['application/json']), 'application/json');
  assert.equal(firstNotText(['all']), 'all');
});
