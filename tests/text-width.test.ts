/** Columns of a terminal: what a text takes, and what is left of it where it is cut. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutToWidth, padToWidth, widthOf } from '../src/lib/text-width.ts';

test('a text takes a column for each character, two for wide ones, none for marks', () => {
  for (const [text, width] of [
    ['', 0],
    ['plain', 5],
    ['Grüße…', 6],
    ['Привет', 6],
    ['中文', 4],
    ['한국어', 6],
    ['ｆｕｌｌ', 8],
    ['日本語 text', 11],
    ['🕸', 1],
    ['😀', 2],
    ['❤\ufe0f', 2],
    ['e\u0301', 1],
    ['a\u200bb', 2],
  ] as const)
    assert.equal(widthOf(text), width, text);
});

test('what fits stays as it is; what does not is cut to its columns, ellipsis and all', () => {
  assert.equal(cutToWidth('example', 7), 'example');
  assert.equal(cutToWidth('example', 6), 'examp…');
  assert.equal(cutToWidth('example', 4, 'start'), '…ple');
  assert.equal(cutToWidth('https://example.org/page', 11, 'middle'), 'https…/page');
  assert.equal(cutToWidth('example', 1), '…');
  assert.equal(cutToWidth('example', 0), '');
  assert.equal(cutToWidth('anything', Infinity), 'anything');
});

test('a wide character is never cut in two, nor a letter from its mark', () => {
  assert.equal(cutToWidth('中文中文', 4), '中…');
  assert.equal(cutToWidth('中文中文', 4, 'start'), '…文');
  assert.equal(cutToWidth('中文中文', 5, 'middle'), '中…文');
  assert.equal(cutToWidth('e\u0301e\u0301e\u0301', 2), 'e\u0301…');
  for (const text of ['中文'.repeat(40), '😀👨‍👩‍👧e\u0301'.repeat(40), 'mixed 混合 text '.repeat(10)])
    for (const at of ['start', 'middle', 'end'] as const)
      for (let columns = 0; columns < 60; columns++)
        assert.ok(widthOf(cutToWidth(text, columns, at)) <= columns, `${at} ${columns}`);
});

test('a text is padded to its columns', () => {
  assert.equal(padToWidth('中', 4), '中  ');
  assert.equal(padToWidth('long', 2), 'long');
});
