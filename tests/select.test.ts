/** Elements by CSS selectors: the tree that browsers make of a page, whatever it looks like. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { openSelect } from '../src/parse/select.ts';

const textsOf = async (html: string, css: string): Promise<string[]> =>
  (await openSelect(html))(css).map(({ text }) => text);

test('an element has its tag, text, HTML and attributes, and can be selected in', async () => {
  const select = await openSelect(
    '<ul id=shop><li class="item new" data-SKU=7><b>Tea</b>\n <i class=price>4 &euro;</i></li><li class=item>x</li></ul>',
  );
  const [item, other, ...more] = select('#shop > .item');
  assert.deepEqual([item?.tag, item?.text, other?.text, more.length], ['li', 'Tea 4 €', 'x', 0]);
  assert.deepEqual([item?.attr('data-sku'), item?.attr('CLASS'), item?.attr('id')], ['7', 'item new', null]);
  assert.deepEqual(
    item?.select('i.price').map(({ html }) => html),
    ['<i class="price">4 €</i>'],
  );
  assert.deepEqual(other?.select('.price'), []);
  assert.deepEqual(select('.nothing'), []);
});

test('tag soup is read as browsers read it', async () => {
  const soups: readonly (readonly [string, string, readonly string[]])[] = [
    ['<p>one<p>two', 'p + p', ['two']],
    ['<table><tr><td>x<td class=price>5', 'table > tbody > tr > td.price', ['5']],
    ['<table><b class=price>7</b><tr><td>a</table>', 'b.price + table', ['a']],
    ['<b>1<i>2</b>3</i>', 'b + i', ['3']],
    ['<div><span class=price>4</div>x', 'div > span', ['4']],
    ['<select><option>a<option>b', 'option:nth-of-type(2)', ['b']],
    ['<script>"<p class=price>"</script><p class=price>9', 'p.price', ['9']],
    ['<a href=1>x<a href=2>y', 'a + a', ['y']],
    ['<textarea><p></textarea><p>q', 'p', ['q']],
    ['', 'p', []],
  ];
  for (const [html, css, texts] of soups) assert.deepEqual(await textsOf(html, css), texts, html);
});

test('a selector that cannot be read is refused with a sentence', async () => {
  const select = await openSelect('<p>');
  for (const css of ['p[', 'p:no-such-thing', '>>'])
    assert.throws(() => select(css), /^UsageError: the selector ".*" is not understood: /, css);
});

test('what is nested deeper than browsers keep is left out, and the rest is there', async () => {
  const html = `<p>top</p>${'<div>'.repeat(5_000)}<p>bottom</p>`;
  assert.deepEqual(await textsOf(html, 'p, div div p'), ['top']);
  assert.ok((await openSelect(html))('div').length < 520);
});

test('nobody loads the libraries who selects nothing', () => {
  const program = `
    const { registerHooks } = await import('node:module');
    registerHooks({ resolve: (name, context, next) => {
      if (/^(parse5|css-select)/.test(name)) throw new Error(name + ' is loaded');
      return next(name, context);
    } });
    await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
    const { openSelect } = await import(${JSON.stringify(new URL('../src/parse/select.ts', import.meta.url).href)});
    await openSelect('<p>').catch((error) => console.log(error.message));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.match(stdout, /^(parse5|css-select)\S* is loaded\n$/, stderr);
});
