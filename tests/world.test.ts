/** The small web: the same bytes for the same seed, and every oddity served as it is described. */

import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { World } from '../src/world/world.ts';
import type { ServedWorld } from '../src/world/serve.ts';
import { CHARSET_TITLES } from '../src/world/curios-bodies.ts';
import { demoPlan, tinyPlan } from '../src/world/presets.ts';
import { curiosOf, oddities } from '../src/world/oddities.ts';
import { createWorld } from '../src/world/world.ts';
import { serveWorld } from '../src/world/serve.ts';
import { requestWorld, type Reply } from './support/world-request.ts';

/** Twice the sites of the tiny plan: enough for every trait. */
const widePlan = { ...tinyPlan, sites: 24, pages: 260 };

let world: World;
let served: ServedWorld;
before(async () => {
  world = createWorld(widePlan);
  served = await serveWorld(world);
});
after(() => served.close());

const request = (address: string, server = served): Promise<Reply> => requestWorld(address, server);

const carriers = (of: World): number => of.sites.filter((site) => site.ordinal >= 0).length;

/** Where a curio can be seen. */
const curioUrl = (name: string): string => {
  const site = world.sites.find((s) => curiosOf(s, carriers(world)).some((curio) => curio.name === name));
  assert.ok(site, `no site carries ${name}`);
  return `${site.scheme}://${site.hosts[0]}/curios/${name}`;
};

const siteWith = (trait: string) => {
  const site = world.sites.find((s) => s.trait === trait);
  assert.ok(site, `no site is ${trait}`);
  return { ...site, origin: `${site.scheme}://${site.hosts[0]}` };
};

describe('the model', () => {
  test('the same plan gives the same sites, responses and reachable pages, another seed gives others', () => {
    const again = createWorld(widePlan);
    assert.deepEqual(again.seeds(), world.seeds());
    assert.deepEqual(again.reachable(), world.reachable());
    for (const url of [...world.reachable().pages].slice(0, 100)) {
      const { protocol, host, pathname, search } = new URL(url);
      const request = { scheme: protocol === 'https:' ? 'https' : 'http', host, path: pathname + search } as const;
      assert.deepEqual(again.responseTo(request), world.responseTo(request));
    }
    assert.notDeepEqual(createWorld({ ...widePlan, seed: 8 }).seeds(), world.seeds());
  });

  test('the demo has 200 sites and 5,000 reachable pages, and no site has more than 250', () => {
    const demo = createWorld(demoPlan);
    const perSite = new Map<string, number>();
    for (const url of demo.reachable().pages) {
      const name = demo.siteOf(new URL(url).host)?.name ?? '';
      perSite.set(name, (perSite.get(name) ?? 0) + 1);
    }
    assert.ok(demo.reachable().pages.size >= 5_000);
    assert.ok(perSite.size >= 200);
    assert.ok(Math.max(...perSite.values()) <= 250);
  });

  test('most articles hang on a single link', () => {
    const inLinks = new Map<string, Set<string>>();
    for (const url of world.reachable().pages) {
      const { protocol, host, pathname, search } = new URL(url);
      const sheet = world.look({ scheme: protocol === 'https:' ? 'https' : 'http', host, path: pathname + search });
      for (const { to } of sheet.links) inLinks.set(to, (inLinks.get(to) ?? new Set()).add(url));
    }
    const articles = [...world.reachable().pages].filter((url) => /-\d+$/.test(url) && !url.includes('/curios/'));
    const single = articles.filter((url) => inLinks.get(url)?.size === 1);
    assert.ok(single.length > articles.length / 2, `${single.length} of ${articles.length}`);
  });

  test('redirects are followed five times in a row and no further', () => {
    const { pages, tolerated } = world.reachable();
    assert.ok(pages.has(`${curioUrl('chain')}/5`) && pages.has(`${curioUrl('chain-long')}/5`));
    assert.ok(tolerated.has(`${curioUrl('chain-long')}/6`) && !pages.has(`${curioUrl('chain-long')}/6`));
    assert.ok(!tolerated.has(`${curioUrl('chain-long')}/7`));
  });

  test('some sites have pages on several hosts', () => {
    const hosts = new Map<string, Set<string>>();
    for (const url of world.reachable().pages) {
      const { host } = new URL(url);
      const name = world.siteOf(host)?.name ?? '';
      hosts.set(name, (hosts.get(name) ?? new Set()).add(host));
    }
    assert.ok([...hosts.values()].filter((names) => names.size > 1).length > 4);
  });

  test('every trait and curio is described once, and a small world has every curio', () => {
    const names = oddities().map((oddity) => `${oddity.where} ${oddity.name}`);
    assert.equal(new Set(names).size, names.length);
    assert.ok(oddities().every((oddity) => oddity.about.length > 5));
    const tiny = createWorld(tinyPlan);
    const carried = new Set(tiny.sites.flatMap((site) => curiosOf(site, carriers(tiny)).map((curio) => curio.name)));
    assert.deepEqual(
      oddities().filter((o) => o.where === 'page' && !carried.has(o.name)),
      [],
    );
  });
});

describe('the server', () => {
  test('it says what the model says, for every reachable page', async () => {
    const { pages } = world.reachable();
    for (const url of pages) {
      const { protocol, host, pathname, search } = new URL(url);
      const expected = world.responseTo({
        scheme: protocol === 'https:' ? 'https' : 'http',
        host,
        path: pathname + search,
      });
      if (expected.once || expected.delivery === 'endless') continue;
      const reply = await request(url);
      assert.deepEqual([reply.status, reply.fault], [expected.status, ''], url);
      assert.ok(reply.body.equals(expected.body), url);
      for (const [name, value] of Object.entries(expected.headers))
        assert.equal(reply.headers[name.toLowerCase()], value, url);
    }
  });

  test('a connection serves several requests, also when they come at once, until it is told to close', async () => {
    const [first, second] = [...world.reachable().pages].filter((url) => url.startsWith('http:')) as [string, string];
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: served.httpPort });
      let got = '';
      socket
        .setEncoding('latin1')
        .on('data', (part: string) => (got += part))
        .on('error', reject)
        .on('end', () => {
          socket.destroy();
          resolve(got);
        });
      const ask = (url: URL, more: string): string =>
        `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n${more}\r\n`;
      socket.write(ask(new URL(first), '') + ask(new URL(second), 'Connection: close\r\n'));
    });
    assert.equal(text.match(/^HTTP\/1\.1 /gm)?.length, 2);
  });

  test('what fails in the model fails on the wire', async () => {
    for (const url of world.reachable().failing) {
      if (world.siteOf(new URL(url).host)?.trait === 'hang') continue; // the next test
      const reply = await request(url);
      // Behind a robots.txt that fails, a page itself may be fine.
      const robots = await request(new URL('/robots.txt', url).href);
      assert.ok(reply.fault !== '' || reply.status >= 500 || robots.status >= 500, `${url} ${reply.status}`);
    }
  });

  test('faults are of the kind described', async () => {
    assert.equal((await request(curioUrl('reset'))).status, 0);
    assert.match((await request(curioUrl('not-http'))).fault, /^HPE_/);
    const half = await request(curioUrl('truncated'));
    assert.ok(half.fault !== '' && half.status === 200 && half.body.length < Number(half.headers['content-length']));
    assert.equal((await request(curioUrl('endless'))).fault, 'cut');
    assert.equal((await request(curioUrl('error-500'))).status, 500);
    assert.equal((await request(`${siteWith('all-reset').origin}/robots.txt`)).status, 0);
    assert.equal((await request(`${siteWith('tls-refused').origin}/`)).status, 0);
    assert.equal((await request(`${siteWith('slow').origin}/`)).status, 200);
    const leafOf = (trait: string): string => {
      const { origin } = siteWith(trait);
      const leaf = [...world.reachable().failing].find((url) => url.startsWith(origin) && url !== `${origin}/`);
      assert.ok(leaf, `${trait} has no failing leaf`);
      return leaf;
    };
    assert.match((await request(leafOf('garbage'))).fault, /^HPE_/);
    // The server answers in the order in which requests come: later ones are answered, this one is not.
    const leaf = leafOf('hang');
    const hanging = request(leaf);
    for (let later = 0; later < 3; later++) assert.equal((await request(`${new URL(leaf).origin}/`)).status, 200);
    assert.equal(await Promise.race([hanging, Promise.resolve('still waits')]), 'still waits');
  });

  test('a site that speaks http only resets TLS, and the walk expects the fallback', async () => {
    const bare = world.seeds().find((line) => !line.includes('://') && world.refusesTls(line));
    assert.ok(bare, 'no bare seed refuses TLS');
    assert.equal((await request(`https://${bare}/`)).status, 0);
    assert.ok(!served.record.requests.some((seen) => seen.host === bare && seen.scheme === 'https'), 'TLS came about');
    assert.equal((await request(`http://${bare}/`)).status, 200);
    assert.ok(world.reachable().failing.has(`https://${bare}/`) && world.reachable().pages.has(`http://${bare}/`));
  });

  test('a busy page is busy once, with Retry-After', async () => {
    const fresh = await serveWorld(world);
    try {
      for (const [name, status] of [
        ['busy-503', 503],
        ['busy-429', 429],
      ] as const) {
        const busy = await request(curioUrl(name), fresh);
        assert.deepEqual([busy.status, busy.headers['retry-after']], [status, '1']);
        assert.equal((await request(curioUrl(name), fresh)).status, 200);
      }
      assert.equal(fresh.record.requests.filter((seen) => seen.whole).length, 2);
    } finally {
      await fresh.close();
    }
  });

  test('bodies come in the encodings and charsets they name', async () => {
    const text = async (name: string, charset: string): Promise<string> =>
      new TextDecoder(charset).decode((await request(curioUrl(name))).body);
    const charsets = {
      'windows-1251': 'windows-1251',
      'shift-jis': 'shift_jis',
      'utf-16': 'utf-16le',
      'meta-charset': 'windows-1251',
      'bom-wins': 'utf-8',
      'joined-charset': 'windows-1251',
    };
    for (const [name, charset] of Object.entries(charsets)) {
      assert.equal(/<title>(.*?)<\/title>/.exec(await text(name, charset))?.[1], CHARSET_TITLES[name]);
    }
    for (const [name, open] of [
      ['gzip', gunzipSync],
      ['deflate', inflateSync],
      ['brotli', brotliDecompressSync],
    ] as const) {
      assert.match(open((await request(curioUrl(name))).body).toString(), /<title>a body in/);
    }
    const bomb = (await request(curioUrl('gzip-bomb'))).body;
    assert.ok(bomb.length < 64 * 1024 && gunzipSync(bomb).length > 16 * 1024 ** 2);
  });

  test('robots.txt is as each trait says', async () => {
    const robots = async (trait: string): Promise<Reply> => request(`${siteWith(trait).origin}/robots.txt`);
    assert.equal((await robots('robots-500')).status, 500);
    assert.match((await robots('crawl-delay')).body.toString(), /^Crawl-delay: 0\.3$/m);
    const huge = (await robots('robots-huge')).body;
    assert.ok(huge.length > 500 * 1024 && huge.subarray(0, 3).toString('hex') === 'efbbbf');
    const away = String((await robots('robots-moved-away')).headers.location);
    assert.notEqual(world.siteOf(new URL(away).host), world.siteOf(new URL(siteWith('robots-moved-away').origin).host));
    assert.match((await request(away)).body.toString(), /Disallow: \/private\//);
    const plain = new Set(
      await Promise.all(
        world.sites
          .filter((s) => s.trait === 'plain')
          .map(async (s) => (await request(`${s.scheme}://${s.hosts[0]}/robots.txt`)).status),
      ),
    );
    assert.deepEqual([...plain].sort(), [200, 403, 404]);
  });
});
