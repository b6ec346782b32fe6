/** Text from elsewhere, as it may be shown to a person, and put into a command that a person copies. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { shellWord } from '../src/lib/shell-word.ts';
import { visible, visibleJson, visibleLines } from '../src/lib/visible.ts';

/** Every character that may not be sent to a terminal: C0, DEL, C1, and what turns or breaks a line. */
const UNSAFE = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  ...[0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
].map((code) => String.fromCharCode(code));

test('whatever moves a cursor, turns a line round or breaks it is shown as an escape', () => {
  assert.equal(visible('a\x1b[2Jb\u202Ec\u2028d\r\ne'), 'a\\u{1b}[2Jb\\u{202e}c\\u{2028}d\\u{d}\\u{a}e');
  for (const character of UNSAFE)
    assert.equal(visible(character), `\\u{${character.charCodeAt(0).toString(16)}}`, JSON.stringify(character));
  const plain = 'plain, Grüße, שלום, 日本語, 👩‍🔬, "quotes" \\ and ~';
  assert.equal(visible(plain), plain);
});

test('text of several lines keeps its lines and tabs, but no carriage return that writes over one', () => {
  assert.equal(visibleLines('a\tb\r\nc\nd\re\x1b'), 'a\tb\r\nc\nd\\u{d}e\\u{1b}');
});

test('JSON says the same after it was made visible', () => {
  const value = { all: UNSAFE.join(''), more: '👩‍🔬' };
  const json = visibleJson(JSON.stringify(value, null, 2));
  assert.deepEqual(JSON.parse(json), value);
  assert.equal(
    UNSAFE.filter((character) => character !== '\n').some((character) => json.includes(character)),
    false,
  );
});

test('an address of the web in a command is one word to a shell, whatever is in it', () => {
  const url = "http://a.example/it's;id/$(id)/`id`?a=1&b=2|c#*~!";
  assert.equal(execFileSync('sh', ['-c', `printf %s ${shellWord(url)}`], { encoding: 'utf8' }), url);
  assert.equal(shellWord('http://a.example/plain'), 'http://a.example/plain');
});
