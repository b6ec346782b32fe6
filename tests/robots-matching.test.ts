/** Rules of a robots.txt against paths: as trying every place would decide, and never slow. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROBOTS_BYTES_MAX, ROBOTS_RECORD_BYTES_MAX } from '../src/model/robots.ts';
import { comparedPath, comparedPattern, matches } from '../src/politeness/pattern.ts';
import { parseRobots, robotsDecision } from '../src/politeness/robots.ts';
import { assertInProportion } from './support/in-proportion.ts';
import { recordOf, written } from './support/robots-records.ts';

/** The set of places that each star and character leads to: slow, and plainly right. */
const matchesSlowly = (pattern: string, path: string): boolean => {
  const anchored = pattern.endsWith('$');
  let places = new Set([0]);
  for (const char of anchored ? pattern.slice(0, -1) : pattern) {
    const next = new Set<number>();
    for (const place of places) {
      if (char === '*') for (let at = place; at <= path.length; at += 1) next.add(at);
      else if (path[place] === char) next.add(place + 1);
    }
    places = next;
  }
  return anchored ? places.has(path.length) : places.size > 0;
};

/** Words of these letters, the same ones in every run. */
const dice = (): { chance(below: number): number; word(letters: string, length: number): string } => {
  let state = 7;
  const chance = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return { chance, word: (letters, length) => Array.from({ length }, () => letters[chance(letters.length)]).join('') };
};

test('a decision agrees with trying every rule at every place', () => {
  const { chance, word } = dice();
  let denied = 0;
  for (let i = 0; i < 5_000; i += 1) {
    const lines = Array.from(
      { length: 1 + chance(12) },
      () =>
        `${chance(3) === 0 ? 'Allow' : 'Disallow'}: ${chance(5) === 0 ? '*' : '/'}${word('ab*/!', chance(4))}${chance(4) === 0 ? '$' : ''}`,
    );
    const path = `/${word('ab/!', chance(6))}`;
    const [best] = lines
      .map((line, n) => ({ line: n + 2, allowed: line.startsWith('A'), pattern: line.slice(line.indexOf(' ') + 1) }))
      .filter(({ pattern }) => matchesSlowly(pattern, path))
      .sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allowed) - Number(a.allowed));
    const { allowed, line } = robotsDecision(recordOf(`User-agent: *\n${lines.join('\n')}`), path);
    assert.equal(allowed, best?.allowed ?? true, `${lines.join(', ')} on ${path}`);
    assert.equal(lines[(line ?? 1) - 2]?.length, best && lines[best.line - 2]?.length);
    if (!allowed) denied += 1;
  }
  assert.ok(denied > 1_000 && denied < 4_000, `${denied} denied`);
});

test('the matcher agrees with trying every place', () => {
  const { chance, word } = dice();
  let matching = 0;
  for (let i = 0; i < 50_000; i += 1) {
    const pattern = word('ab**/', chance(8)) + (chance(3) === 0 ? '$' : '');
    const path = `/${word('ab/', chance(9))}`;
    const expected = matchesSlowly(pattern, path);
    if (expected) matching += 1;
    assert.equal(matches(pattern, path), expected, `${pattern} on ${path}`);
  }
  assert.ok(matching > 5_000 && matching < 45_000, `${matching} matched`);
});

test('the compared spelling of a compared spelling is itself', () => {
  for (const text of ['/a%2Ab', '/%24', '/%E3%83%84', '/a%2Fb?c%2Fd', '/%25', '/%', '/a b', '/%0A']) {
    assert.equal(comparedPath(comparedPath(text)), comparedPath(text), text);
    assert.equal(comparedPattern(comparedPattern(text)), comparedPattern(text), text);
  }
});

/** As many lines as a record can hold. */
const filled = (line: string, bytes: number): string => `${line}\n`.repeat(Math.floor(bytes / (line.length + 1)));

test('rules made to be slow are not', () => {
  const path = `/${'a'.repeat(1_999)}`;
  // Milliseconds when nothing is tried twice; with trying again, the first would outlive the machine.
  assertInProportion('a rule of wildcards', 32_000, (pairs) => {
    robotsDecision(written(`-/${'*a'.repeat(pairs)}*b$`), path);
  });
  const hostile = [
    '-/*a*a*a*a*a*a*a*a*b$',
    '-*aaab',
    '-*b',
    `-*${'a'.repeat(500)}b`,
    `-*${'a'.repeat(500)}b${'a'.repeat(500)}*c$`,
    `-${'*'.repeat(60)}b`,
    '-/a*',
    '-/',
  ];
  for (const rule of hostile) {
    assertInProportion(rule.slice(0, 40), ROBOTS_RECORD_BYTES_MAX, (bytes) => {
      robotsDecision(written(filled(rule, bytes)), path);
    });
  }
});

test('a robots.txt made to be slow is reduced at once', () => {
  const hostile: Readonly<Record<string, (half: number) => string>> = {
    'agents and rules': (half) => 'User-agent: gossamer\n'.repeat(half / 21) + 'Disallow: /a\n'.repeat(half / 13),
    spaces: (half) => ' '.repeat(2 * half),
    'spaces between two letters': (half) => `a${' '.repeat(2 * half - 9)}b`,
    'line ends': (half) => '\r'.repeat(2 * half),
    'signs of escaping': (half) => `User-agent: *\nDisallow: /${'%'.repeat(half)}`,
    wildcards: (half) => `User-agent: *\nDisallow: ${'*'.repeat(half)}`,
    colons: (half) => ':'.repeat(2 * half),
  };
  for (const [name, textOf] of Object.entries(hostile))
    assertInProportion(name, ROBOTS_BYTES_MAX / 2, (half) => void parseRobots(textOf(half), 'Gossamer'));
});
