/** Where seeds are at home is kept with the crawl: whoever opens it next knows, before any link is judged. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openHomeKeeper, type HomeKeeper } from '../src/run/homes.ts';
import { canonicalize, type Address } from '../src/url/canonical.ts';
import { openHomes } from '../src/url/homes.ts';
import { SHARDS } from '../src/url/shard.ts';
import { siteOf } from '../src/url/site.ts';

const dir = mkdtempSync(join(tmpdir(), 'gossamer-homes-'));
after(() => rmSync(dir, { recursive: true }));
writeFileSync(join(dir, 'seeds.txt'), 'http://old.example/\nhttp://b.example/docs/ path\n');

const open = async (): Promise<HomeKeeper> => {
  const store = { url: 'sqlite', crawl: 'homes', member: '', shards: SHARDS, frontier: 'store', dir } as const;
  return (await openHomeKeeper({ dir, settings: { scope: 'host', sites: [] }, store }))!;
};
const covers = ({ shared }: HomeKeeper, url: string): boolean => {
  const address = canonicalize(url) as Address;
  return openHomes(shared).cover(address, siteOf(address.host));
};

test('a seed that moves, with the kind of its home, and homes that are added are known to the next keeper', async () => {
  const first = await open();
  await first.move('http://old.example/', 'https://www.new.example/start');
  await first.move('http://b.example/docs/', 'https://c.example/manual/index.html');
  await first.move('http://nobody.example/', 'https://d.example/');
  await first.add(['host e.example', 'in e.example']);
  await first.close();
  const next = await open();
  for (const keeper of [first, next]) {
    assert.ok(covers(keeper, 'http://www.new.example/other'));
    assert.ok(!covers(keeper, 'http://new.example/'), 'another host');
    assert.ok(covers(keeper, 'http://c.example/manual/2'));
    assert.ok(!covers(keeper, 'http://c.example/'), 'outside of its folder');
    assert.ok(!covers(keeper, 'http://d.example/'), 'what moved was no home');
    assert.ok(covers(keeper, 'http://e.example/'));
  }
  assert.equal(await next.refresh(), false, 'nothing is new');
  await next.close();
});

test('what another process notes meanwhile is learned, and nothing is lost when both note at once', async () => {
  const [one, other] = [await open(), await open()];
  await Promise.all([
    one.move('http://old.example/', 'http://f.example/'),
    other.move('http://old.example/', 'http://g.example/'),
  ]);
  await one.refresh();
  await other.refresh();
  for (const keeper of [one, other])
    for (const host of ['f', 'g']) assert.ok(covers(keeper, `http://${host}.example/x`), host);
  await one.close();
  await other.close();
});
