/** What robots.txt allows: RFC 9309, and how large search engines read what it leaves open. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROBOTS_BYTES_MAX, ROBOTS_RECORD_BYTES_MAX } from '../src/model/robots.ts';
import type { RobotsRecord } from '../src/model/robots.ts';
import { parseRobots, robotsDecision, robotsStance, robotsVerdict, SITEMAPS_MAX } from '../src/politeness/robots.ts';
import { canonicalize } from '../src/url/canonical.ts';
import { recordOf, written } from './support/robots-records.ts';

/** May we fetch the path, as the canonical form spells it, under these lines for everyone? */
const allows = (lines: string, path: string): boolean => {
  const address = canonicalize(`https://example.org${path}`);
  assert.ok(typeof address !== 'string', path);
  return robotsDecision(recordOf(lines.includes('gent') ? lines : `User-agent: *\n${lines}`), address.path).allowed;
};

test('the longest rule that matches wins, and allowing wins a tie', () => {
  assert.equal(allows('Disallow: /a\nAllow: /a/b', '/a/b/c'), true);
  assert.equal(allows('Allow: /a\nDisallow: /a/b', '/a/b/c'), false);
  assert.equal(allows('Disallow: /a\nAllow: /a', '/a'), true);
  assert.equal(allows('Allow: /a\nDisallow: /a', '/a'), true);
  assert.equal(allows('Allow: /page\nDisallow: /*.htm', '/page.htm'), false);
  assert.equal(allows('Allow: /$\nDisallow: /', '/'), true);
  assert.equal(allows('Allow: /$\nDisallow: /', '/a'), false);
  assert.equal(allows('Disallow: /x', '/y'), true);
});

test('a rule is a prefix that starts at the root and knows upper case from lower', () => {
  const fish = 'Disallow: /fish';
  for (const path of ['/fish', '/fish.html', '/fish/salmon.html', '/fishheads', '/fish.php?id=anything'])
    assert.equal(allows(fish, path), false, path);
  for (const path of ['/Fish.asp', '/catfish', '/?id=fish', '/desert/fish'])
    assert.equal(allows(fish, path), true, path);
  assert.equal(allows('Disallow: /fish/', '/fish'), true);
});

test('a star stands for anything, a dollar sign for the end', () => {
  const php = 'Disallow: /*.php';
  for (const path of ['/index.php', '/a/b.php5', '/x.php?y=1', '/.php/']) assert.equal(allows(php, path), false, path);
  for (const path of ['/', '/windows.PHP']) assert.equal(allows(php, path), true, path);
  const end = 'Disallow: /*.php$';
  assert.equal(allows(end, '/a.php'), false);
  for (const path of ['/a.php?x', '/a.php/', '/a.php5']) assert.equal(allows(end, path), true, path);
  assert.equal(allows('Disallow: /fish*.php', '/fishheads/catfish.php?p'), false);
  assert.equal(allows('Disallow: /fish*.php', '/Fish.PHP'), true);
  assert.equal(allows('Disallow: *', '/a'), false);
  assert.equal(allows('Disallow: *a\nAllow: /a', '/a'), true, 'a leading star needs no slash, and none is counted');
  assert.equal(allows('Disallow: *.pdf$', '/a/b.pdf'), false);
  assert.equal(allows('Disallow: /a$', '/a'), false);
  assert.equal(allows('Disallow: /a$', '/ab'), true);
});

test('a star and a dollar sign that are meant as such are written as escapes', () => {
  assert.equal(allows('Disallow: /a%2A', '/a*b'), false);
  assert.equal(allows('Disallow: /a%2a', '/ab'), true);
  assert.equal(allows('Disallow: /a%24', '/a$b'), false);
  assert.equal(allows('Disallow: /a%24', '/a'), true);
  assert.equal(allows('Disallow: /a$b', '/a$b'), false, 'a dollar sign before the end is itself');
  assert.equal(allows('Disallow: /a$b', '/a'), true);
});

test('rules and paths are compared in one spelling of their escapes', () => {
  assert.equal(allows('Disallow: /foo/bar/ツ', '/foo/bar/%E3%83%84'), false);
  assert.equal(allows('Disallow: /foo/bar/%e3%83%84', '/foo/bar/ツ'), false);
  assert.equal(allows('Disallow: /foo/bar/%62%61%7A', '/foo/bar/baz'), false);
  assert.equal(allows('Disallow: /foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'), false);
  assert.equal(allows('Disallow: /a b', '/a%20b'), false);
  assert.equal(allows('Disallow: /a|b', '/a%7Cb'), false);
  assert.equal(allows('Disallow: /{x}', '/{x}'), false);
  assert.equal(allows("Disallow: /?q='", "/?q='"), false);
  assert.equal(allows('Disallow: /a/b', '/a%2Fb'), true, 'an escaped slash divides nothing');
  assert.equal(allows('Disallow: /a%2fb', '/a%2Fb'), false);
  assert.equal(allows('Disallow: /a?b', '/a%3Fb'), true);
  assert.equal(allows('Disallow: /100%', '/100%'), false);
});

test('a rule is as long as it was written: an escape has three octets, whatever it is compared as', () => {
  assert.equal(allows('Disallow: /*%20*/*$\nAllow: /*.html$', '/a%20b/c.html'), false);
  assert.equal(allows('Allow: /*%20*/*$\nDisallow: /*.html$', '/a%20b/c.html'), true);
  assert.equal(allows('Disallow: /%7Ejoe\nAllow: /~joe/', '/~joe/x'), false);
  assert.equal(allows('Disallow: /ツ\nAllow: /*12345678', '/ツ12345678'), true, 'ten octets, and ten');
  assert.equal(allows('Disallow: /ツ\nAllow: /*1234567', '/ツ1234567'), false);
  assert.equal(allows('Disallow: /a$b\nAllow: /a$*', '/a$b'), true, 'a dollar sign has one');
});

test('rules that differ in the spelling of their escapes alone are a tie', () => {
  for (const lines of ['Disallow: /%7Ejoe\nAllow: /~joe', 'Allow: /~joe\nDisallow: /%7Ejoe'])
    assert.equal(allows(lines, '/~joe'), true, lines);
  assert.equal(allows('Disallow: /~joe\nDisallow: /%7Ejoe\nAllow: /*joe/', '/~joe/'), false, 'the longest counts');
});

test('the length that a rule states is neither part of its number nor of its pattern', () => {
  const record = recordOf('User-agent: *\nDisallow: /%7Ejoe');
  assert.deepEqual(robotsDecision(record, '/~joe'), { allowed: false, rule: 'line 2: Disallow: /~joe', line: 2 });
  assert.equal(robotsStance(recordOf('User-agent: *\nDisallow: /\nAllow: /%7Ejoe')), 'has-rules');
});

test('robots.txt itself may always be read', () => {
  assert.equal(robotsDecision(recordOf('User-agent: *\nDisallow: /'), '/robots.txt').allowed, true);
  assert.equal(robotsDecision(recordOf('User-agent: *\nDisallow: /'), '/robots.txt2').allowed, false);
  assert.equal(robotsDecision({ ...written(''), verdict: 'too-large' }, '/robots.txt').allowed, true);
});

test('a decision names the rule that made it, and its line', () => {
  const record = recordOf('User-agent: *\nDisallow: /a\nAllow: /a/b');
  assert.deepEqual(robotsDecision(record, '/a/c'), { allowed: false, rule: 'line 2: Disallow: /a', line: 2 });
  assert.deepEqual(robotsDecision(record, '/a/b'), { allowed: true, rule: 'line 3: Allow: /a/b', line: 3 });
  assert.deepEqual(robotsDecision(record, '/z'), { allowed: true, rule: 'no rule matches', line: null });
  assert.deepEqual(robotsDecision(recordOf(''), '/z'), { allowed: true, rule: 'no rules for us', line: null });
});

test('lines are counted as an editor counts them: comments, blank lines and rules for others too, however they end', () => {
  const lines = [
    '\uFEFF# rules',
    '',
    'User-agent: other',
    'Disallow: /x',
    'nonsense',
    'User-agent: *',
    'Disallow: /y',
    '',
    'Disallow: /x',
  ];
  for (const ending of ['\n', '\r\n', '\r']) {
    const record = recordOf(lines.join(ending));
    assert.deepEqual(
      [robotsDecision(record, '/y').line, robotsDecision(record, '/x').line],
      [7, 9],
      JSON.stringify(ending),
    );
  }
  assert.equal(
    robotsDecision(recordOf('User-agent: *\nDisallow: /a\nDisallow: /a'), '/a').line,
    2,
    'the first of two that say the same',
  );
});

test('the number of its line does not make a rule longer', () => {
  const late = (count: number): string => `User-agent: *\nAllow: /ab\n${'\n'.repeat(count)}Disallow: /a`;
  for (const blank of [0, 10, 2_000, 200_000]) assert.equal(allows(late(blank), '/abc'), true, `${blank} blank lines`);
  assert.equal(allows(`User-agent: *\nDisallow: /ab\n${'\n'.repeat(2_000)}Allow: /a`, '/abc'), false);
  assert.equal(
    allows(`User-agent: *\nDisallow: /ab\n${'\n'.repeat(2_000)}Allow: /ab`, '/abc'),
    true,
    'nor breaks a tie',
  );
});

test('a record without line numbers, of an older program, decides the same', () => {
  const record = written('-/a\n+/a/b\n-/a/b/c');
  assert.deepEqual(robotsDecision(record, '/a/x'), { allowed: false, rule: 'Disallow: /a', line: null });
  assert.deepEqual(robotsDecision(record, '/a/b'), { allowed: true, rule: 'Allow: /a/b', line: null });
  assert.deepEqual(robotsDecision(record, '/a/b/c'), { allowed: false, rule: 'Disallow: /a/b/c', line: null });
});

test('a record is told in a word', () => {
  const stance = (lines: string): string => robotsStance(recordOf(`User-agent: *\n${lines}`));
  assert.equal(stance(''), 'allows-all');
  for (const lines of ['Disallow: /', 'Disallow: *', 'Disallow: /*', 'Disallow: /*$', 'Disallow: /a\nDisallow: /'])
    assert.equal(stance(lines), 'forbids-all', lines);
  for (const lines of ['Disallow: /a', 'Disallow: /$', 'Disallow: /*a', 'Disallow: /\nAllow: /a', 'Allow: /'])
    assert.equal(stance(lines), 'has-rules', lines);
  assert.equal(robotsStance(written('-/')), 'forbids-all', 'also one without line numbers');
  assert.equal(robotsStance({ ...written(''), verdict: 'too-large' }), 'too-large');
});

test('the group for us counts alone, and the one for everyone only without it', () => {
  const text = 'User-agent: *\nDisallow: /\n\nUser-agent: gossamer\nDisallow: /x';
  assert.equal(allows(text, '/y'), true);
  assert.equal(allows(text, '/x'), false);
  assert.equal(allows('User-agent: other\nDisallow: /', '/y'), true);
  assert.equal(allows('User-agent: *\nDisallow: /\nUser-agent: Gossamer\n', '/y'), true, 'also when ours is empty');
  assert.equal(allows('Disallow: /\nUser-agent: other\nAllow: /', '/y'), true, "rules before any group are nobody's");
});

test('all groups for us are one, wherever they stand', () => {
  const text =
    'User-agent: Gossamer\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: GOSSAMER\nDisallow: /c\nCrawl-delay: 3';
  assert.deepEqual([allows(text, '/a'), allows(text, '/b'), allows(text, '/c')], [false, true, false]);
  assert.equal(recordOf(text).rules, '2-/a\n6-/c');
  assert.equal(
    recordOf('User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nAllow: /c').rules,
    '2-/a\n6+/c',
  );
});

test('one group may speak to several, and only its own rules end the list of names', () => {
  const text =
    'User-agent: a\nSitemap: https://example.org/s.xml\n\nUser-agent: gossamer\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x\nUser-agent: c\nDisallow: /y';
  assert.deepEqual([allows(text, '/x'), allows(text, '/y')], [false, true]);
  assert.equal(recordOf(text).crawlDelayMs, 1_000);
  assert.equal(recordOf('User-agent: *\nUser-agent: gossamer\nDisallow: /x').rules, '3-/x');
  assert.equal(
    recordOf('User-agent: a\nDisallow: /a\nUser-agent: gossamer\nUser-agent: b\nDisallow: /b').rules,
    '5-/b',
  );
});

test('our name is known in any case and with what often follows it, but not as part of another', () => {
  for (const name of ['gossamer', 'GOSSAMER', 'Gossamer/1.0', 'gossamer (x)', ' gossamer ', 'Gossamer*']) {
    assert.equal(allows(`User-agent: ${name}\nDisallow: /`, '/x'), false, name);
  }
  for (const name of ['gossamerbot', 'gossa', 'x-gossamer', 'not gossamer', '', '**']) {
    assert.equal(allows(`User-agent: ${name}\nDisallow: /`, '/x'), true, name);
  }
  assert.equal(parseRobots('User-agent: gossamer\nDisallow: /', 'Gossamer/2.0').rules, '2-/');
  assert.equal(parseRobots('User-agent:\nDisallow: /', '').rules, '', 'no name is nobody');
});

test('lines may end, begin, be spaced and be commented in any way', () => {
  const odd =
    '\uFEFFuser-AGENT :\t* # all\r\n\r\n  DISALLOW:/a#b\rdisallow   :  /c  \nUnknown: x\n: y\nallow\n<html>\n';
  assert.equal(recordOf(odd).rules, '3-/a\n4-/c');
  assert.equal(recordOf(' User-agent *\n\tDisallow /a ').rules, '2-/a', 'a colon may be forgotten');
  assert.equal(recordOf('User-agent: *\nDisallow /a b').rules, '', 'but then two words are the most');
});

test('common misspellings are understood', () => {
  for (const word of ['disalow', 'dissallow', 'dissalow', 'diasllow', 'disallaw', 'Disallow']) {
    assert.equal(recordOf(`useragent: *\n${word}: /a`).rules, '2-/a', word);
  }
  assert.equal(recordOf('user agent: *\ndisallow: a').rules, '2-/a', 'a slash may be forgotten');
  assert.deepEqual(parseRobots('site-map: https://example.org/s.xml', 'x').sitemaps, ['https://example.org/s.xml']);
});

test('no rules for us means that all is allowed', () => {
  for (const text of [
    '',
    '\n\n',
    'User-agent: *\nDisallow:',
    'User-agent: *\nAllow:\n',
    '<!doctype html><p>hello: you',
    'User-agent: x\nDisallow: /',
  ]) {
    assert.equal(recordOf(text).verdict, 'all', text);
  }
});

test('a Crawl-delay is read with its fraction, and the longest counts', () => {
  const delayOf = (value: string): number | null => recordOf(`User-agent: *\nCrawl-delay: ${value}`).crawlDelayMs;
  assert.equal(delayOf('10'), 10_000);
  assert.equal(delayOf('0.5'), 500);
  assert.equal(delayOf('.0004'), 1);
  assert.equal(delayOf('1,5'), 1_500);
  assert.equal(delayOf('0'), 0);
  for (const value of ['', 'x', '-1', 'NaN']) assert.equal(delayOf(value), null, value);
  assert.equal(delayOf('1e999'), Number.MAX_SAFE_INTEGER);
  assert.equal(recordOf('User-agent: *\nCrawl-delay: 2\nDisallow: /a\nCrawl-delay: 1').crawlDelayMs, 2_000);
  assert.equal(recordOf('User-agent: x\nCrawl-delay: 2\nDisallow: /').crawlDelayMs, null);
  assert.equal(
    recordOf('User-agent: *\nCrawl-delay: 9\nDisallow: /\nUser-agent: gossamer\nDisallow: /').crawlDelayMs,
    null,
  );
});

test('sitemaps belong to no group, and are kept up to a ceiling', () => {
  const text =
    'Sitemap: https://example.org/1.xml\nUser-agent: x\nDisallow: /\nsitemap:https://example.org/2.xml # two\nSitemap:';
  assert.deepEqual(parseRobots(text, 'Gossamer').sitemaps, ['https://example.org/1.xml', 'https://example.org/2.xml']);
  assert.equal(parseRobots('Sitemap: https://example.org/x\n'.repeat(1_000), 'x').sitemaps.length, SITEMAPS_MAX);
});

test('rules of up to 500 KiB are read whole: they forbid what they name, and nothing else', () => {
  const text = (bytes: number): string => {
    const rules = Math.floor(bytes / 'Disallow: /0000000\n'.length);
    return `User-agent: *\n${Array.from({ length: rules }, (_, i) => `Disallow: /${String(i).padStart(7, '0')}`).join('\n')}`;
  };
  for (const kib of [60, 128, 250, 495]) {
    const record = recordOf(text(kib * 1024));
    assert.equal(record.verdict, 'rules', `${kib} KiB`);
    assert.equal(robotsDecision(record, '/0000007/x').allowed, false);
    assert.equal(robotsDecision(record, '/about').allowed, true);
  }
});

test('rules over the ceiling forbid the origin, and rules for others do not count towards it', () => {
  const many = (count: number): string =>
    Array.from({ length: count }, (_, i) => `Disallow: /${String(i).padStart(5, '0')}`).join('\n');
  // A letter of two bytes is six once it is escaped: so rules can be longer than the text that they came in.
  const lines = 1_000;
  const left = ROBOTS_RECORD_BYTES_MAX - (8 * lines + 2); // a rule of `many` is a sign, six characters, a line end
  const filled = (more: string): string => {
    const letters = 'ж'.repeat(Math.floor(left / 6)) + 'x'.repeat(left % 6) + more;
    return `User-agent: *\n${many(lines)}\nDisallow: /${letters}`;
  };
  const full = recordOf(filled(''));
  assert.equal(full.verdict, 'rules');
  assert.equal(full.rules.replaceAll(/^\d+/gm, '').length, ROBOTS_RECORD_BYTES_MAX, 'line numbers do not count');
  const over = recordOf(filled('x'));
  assert.deepEqual([over.verdict, over.rules], ['too-large', '']);
  assert.equal(robotsDecision(over, '/').allowed, false);
  const others = `${filled('x').replace('*', 'other')}\nUser-agent: *\nDisallow: /a`;
  assert.equal(recordOf(others).rules, `${lines + 4}-/a`);
  assert.equal(
    recordOf(`User-agent: *\n${'Disallow: /again\n'.repeat(20_000)}`).rules,
    '2-/again',
    'a rule counts once',
  );
});

test('the last line of a text that was cut is ignored unless it has its end', () => {
  const start = 'User-agent: *\nDisallow: /a\n';
  const filled = (last: string): string =>
    `${start}#${'x'.repeat(ROBOTS_BYTES_MAX - start.length - last.length - 2)}\n${last}`;
  assert.equal(filled('Disallow: /').length, ROBOTS_BYTES_MAX);
  assert.equal(recordOf(filled('Disallow: /')).rules, '2-/a');
  assert.equal(recordOf(filled('Disallow: /\n')).rules, '2-/a\n4-/');
  assert.equal(recordOf(filled('Disallow: /').replace('xxxxx', '')).rules, '2-/a\n4-/', 'a shorter one was not cut');
});

test('the status of a robots.txt decides whether it is read, followed, taken as consent or as trouble', () => {
  assert.deepEqual([200, 204, 206].map(robotsVerdict), ['read', 'read', 'read']);
  assert.deepEqual([301, 302, 307, 308].map(robotsVerdict), ['follow', 'follow', 'follow', 'follow']);
  assert.deepEqual([400, 401, 403, 404, 410, 451, 499].map(robotsVerdict), new Array(7).fill('allow'));
  assert.deepEqual([429, 500, 503, 599, 100, 600, 999, 0].map(robotsVerdict), new Array(8).fill('trouble'));
});

test('a robots.txt that could not be read allows nothing, whatever is kept of the trouble', () => {
  for (const cause of ['503', 'dns', 'response-timeout']) {
    const record: RobotsRecord = { ...written(cause), verdict: 'trouble' };
    assert.deepEqual(robotsDecision(record, '/page'), {
      allowed: false,
      rule: 'robots.txt could not be read',
      line: null,
    });
    assert.equal(robotsStance(record), 'unreadable');
  }
});

test('the Crawl-delay of a group that follows is not ours, whoever comes first', () => {
  const ours = 'User-agent: gossamer\nCrawl-delay: 5\n';
  const others = 'User-agent: *\nCrawl-delay: 30\n';
  assert.equal(recordOf(`${ours}\n${others}Disallow: /x`).crawlDelayMs, 5_000);
  assert.equal(recordOf(`${others}\n${ours}Disallow: /x`).crawlDelayMs, 5_000);
  assert.equal(recordOf('User-agent: gossamer\nUser-agent: *\nCrawl-delay: 7\nDisallow: /x').crawlDelayMs, 7_000);
});

test('rules that are made to be slow forbid, after bounded work', () => {
  const slow = Array.from({ length: 20_000 }, (_, n) => `Disallow: /*aaab${n}`);
  const record = recordOf(`User-agent: *\n${slow.join('\n')}\n`);
  const long = `/${'a'.repeat(1_990)}`;
  assert.deepEqual(robotsDecision(record, long), {
    allowed: false,
    rule: 'rules that take too long to match',
    line: null,
  });
  assert.deepEqual(robotsDecision(record, '/short').rule, 'no rule matches', 'an ordinary address is judged by them');
});
