/** The small web: the same bytes for the same seed, and every oddity served as it is described. */

import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { World } from '../src/world/world.ts';
import type { ServedWorld } from '../src/world/serve.ts';
import { CHARSET_TITLES } from '../src/world/curios-bodies.ts';
import { benchPlan, demoPlan, tinyPlan } from '../src/world/presets.ts';
import { curiosOf, oddities } from '../src/world/oddities.ts';
import { createWorld } from '../src/world/world.ts';
import { serveWorld } from '../src/world/serve.ts';

/** Twice the sites of the tiny plan: enough for every trait. */
const widePlan = { ...tinyPlan, sites: 24, pages: 260 };

let world: World;
let served: ServedWorld;
before(async () => {
  world = createWorld(widePlan);
  served = await serveWorld(world);
});
after(() => served.close());

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Empty when the answer came whole. */
  readonly fault: string;
}

/** One call on a fresh connection; `bytesMax` stops reading an endless body. */
const call = (address: string, server: ServedWorld = served, bytesMax = 4 * 1024 ** 2): Promise<Reply> =>
  new Promise((resolve) => {
    const url = new URL(address);
    const secure = url.protocol === 'https:';
    const parts: Buffer[] = [];
    let bytes = 0;
    let reply: Reply = { status: 0, headers: {}, body: Buffer.alloc(0), fault: 'no answer' };
    const end = (fault: string): void => {
      request.destroy();
      resolve({ ...reply, body: Buffer.concat(parts), fault });
    };
    const request = (secure ? httpsRequest : httpRequest)(
      {
        host: '127.0.0.1',
        port: secure ? server.httpsPort : server.httpPort,
        path: url.pathname + url.search,
        headers: { host: url.host, 'user-agent': 'test' },
        servername: url.hostname,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        reply = { ...reply, status: response.statusCode ?? 0, headers: response.headers };
        response.on('data', (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes > bytesMax) end('cut');
        });
        response.on('end', () => end(response.complete ? '' : 'incomplete'));
        response.on('error', (fault: NodeJS.ErrnoException) => end(fault.code ?? fault.message));
      },
    );
    request.on('error', (fault: NodeJS.ErrnoException) => end(fault.code ?? fault.message));
    request.setTimeout(1_500, () => end('timeout'));
    request.end();
  });

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
  test('the same plan gives the same sites, answers and reachable pages, another seed gives others', () => {
    const again = createWorld(widePlan);
    assert.deepEqual(again.seeds(), world.seeds());
    assert.deepEqual(again.reachable(), world.reachable());
    for (const url of [...world.reachable().pages].slice(0, 100)) {
      const { protocol, host, pathname, search } = new URL(url);
      const request = { scheme: protocol === 'https:' ? 'https' : 'http', host, path: pathname + search } as const;
      assert.deepEqual(again.answer(request), world.answer(request));
    }
    assert.notDeepEqual(createWorld({ ...widePlan, seed: 8 }).seeds(), world.seeds());
  });

  test('the plan says how many pages there are, a few sites are hot, and none is over its ceiling', () => {
    const sizes = createWorld(benchPlan)
      .sites.map((site) => site.pages)
      .sort((a, b) => b - a);
    assert.equal(
      sizes.reduce((sum, n) => sum + n, 0),
      benchPlan.pages,
    );
    assert.ok((sizes[0] as number) <= benchPlan.sitePagesMax);
    const hottest = sizes.slice(0, sizes.length / 100).reduce((sum, n) => sum + n, 0);
    assert.ok(hottest > benchPlan.pages / 10, `the hottest hundredth has ${hottest} pages`);
    assert.ok((sizes[sizes.length / 2] as number) < benchPlan.pages / sizes.length);
  });

  test('pages have about the size that the plan asks for', () => {
    const bench = createWorld({ ...benchPlan, sites: 40, pages: 400 });
    const sizes = [...bench.reachable().pages].map((url) => {
      const { host, pathname } = new URL(url);
      return bench.answer({ scheme: 'http', host, path: pathname }).body.length;
    });
    assert.equal(sizes.length, 400);
    const mean = sizes.reduce((sum, n) => sum + n, 0) / sizes.length;
    assert.ok(Math.abs(mean - benchPlan.pageBytes) < benchPlan.pageBytes / 10, `mean ${mean}`);
  });

  test('ten thousand sites with ten million pages are laid out without storing a page', () => {
    const large = createWorld({ ...benchPlan, sites: 10_000, pages: 10_000_000, sitePagesMax: 5_000 });
    const site = large.sites[9_999];
    assert.ok(site);
    assert.equal(large.answer({ scheme: 'http', host: site.hosts[0] as string, path: '/' }).status, 200);
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
      const answer = world.answer({ scheme: protocol === 'https:' ? 'https' : 'http', host, path: pathname + search });
      if (answer.once || answer.delivery === 'endless') continue;
      const reply = await call(url);
      assert.deepEqual([reply.status, reply.fault], [answer.status, ''], url);
      assert.ok(reply.body.equals(answer.body), url);
      for (const [name, value] of Object.entries(answer.headers)) assert.equal(reply.headers[name], value, url);
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
      const reply = await call(url);
      // Behind a robots.txt that fails, a page itself may be fine.
      const robots = await call(new URL('/robots.txt', url).href);
      assert.ok(reply.fault !== '' || reply.status >= 500 || robots.status >= 500, `${url} ${reply.status}`);
    }
  });

  test('faults are of the kind described', async () => {
    assert.equal((await call(curioUrl('reset'))).status, 0);
    assert.match((await call(curioUrl('not-http'))).fault, /^HPE_/);
    const half = await call(curioUrl('truncated'));
    assert.ok(half.fault !== '' && half.status === 200 && half.body.length < Number(half.headers['content-length']));
    assert.equal((await call(curioUrl('endless'))).fault, 'cut');
    assert.equal((await call(curioUrl('error-500'))).status, 500);
    assert.equal((await call(`${siteWith('all-reset').origin}/robots.txt`)).status, 0);
    assert.equal((await call(`${siteWith('tls-refused').origin}/`)).status, 0);
    assert.equal((await call(`${siteWith('slow').origin}/`)).status, 200);
    const leafOf = (trait: string): string => {
      const { origin } = siteWith(trait);
      const leaf = [...world.reachable().failing].find((url) => url.startsWith(origin) && url !== `${origin}/`);
      assert.ok(leaf, `${trait} has no failing leaf`);
      return leaf;
    };
    assert.match((await call(leafOf('garbage'))).fault, /^HPE_/);
    assert.equal((await call(leafOf('hang'))).fault, 'timeout');
  });

  test('a site that speaks http only resets TLS, and the walk expects the fallback', async () => {
    const bare = world.seeds().find((line) => !line.includes('://') && world.refusesTls(line));
    assert.ok(bare, 'no bare seed refuses TLS');
    assert.equal((await call(`https://${bare}/`)).status, 0);
    assert.ok(!served.record.requests.some((seen) => seen.host === bare && seen.scheme === 'https'), 'TLS came about');
    assert.equal((await call(`http://${bare}/`)).status, 200);
    assert.ok(world.reachable().failing.has(`https://${bare}/`) && world.reachable().pages.has(`http://${bare}/`));
  });

  test('a busy page is busy once, with Retry-After', async () => {
    const fresh = await serveWorld(world);
    try {
      for (const [name, status] of [
        ['busy-503', 503],
        ['busy-429', 429],
      ] as const) {
        const busy = await call(curioUrl(name), fresh);
        assert.deepEqual([busy.status, busy.headers['retry-after']], [status, '1']);
        assert.equal((await call(curioUrl(name), fresh)).status, 200);
      }
      assert.equal(fresh.record.requests.filter((seen) => seen.whole).length, 2);
    } finally {
      await fresh.close();
    }
  });

  test('bodies come in the encodings and charsets they name', async () => {
    const text = async (name: string, charset: string): Promise<string> =>
      new TextDecoder(charset).decode((await call(curioUrl(name))).body);
    const charsets = {
      'windows-1251': 'windows-1251',
      'shift-jis': 'shift_jis',
      'utf-16': 'utf-16le',
      'meta-charset': 'windows-1251',
      'bom-wins': 'utf-8',
    };
    for (const [name, charset] of Object.entries(charsets)) {
      assert.equal(/<title>(.*?)<\/title>/.exec(await text(name, charset))?.[1], CHARSET_TITLES[name]);
    }
    for (const [name, open] of [
      ['gzip', gunzipSync],
      ['deflate', inflateSync],
      ['brotli', brotliDecompressSync],
    ] as const) {
      assert.match(open((await call(curioUrl(name))).body).toString(), /<title>a body in/);
    }
    const bomb = (await call(curioUrl('gzip-bomb'))).body;
    assert.ok(bomb.length < 64 * 1024 && gunzipSync(bomb).length > 16 * 1024 ** 2);
  });

  test('robots.txt is as each trait says', async () => {
    const robots = async (trait: string): Promise<Reply> => call(`${siteWith(trait).origin}/robots.txt`);
    assert.equal((await robots('robots-500')).status, 500);
    assert.match((await robots('crawl-delay')).body.toString(), /^Crawl-delay: 0\.3$/m);
    const huge = (await robots('robots-huge')).body;
    assert.ok(huge.length > 500 * 1024 && huge.subarray(0, 3).toString('hex') === 'efbbbf');
    const away = String((await robots('robots-moved-away')).headers.location);
    assert.notEqual(world.siteOf(new URL(away).host), world.siteOf(new URL(siteWith('robots-moved-away').origin).host));
    assert.match((await call(away)).body.toString(), /Disallow: \/private\//);
    const plain = new Set(
      await Promise.all(
        world.sites
          .filter((s) => s.trait === 'plain')
          .map(async (s) => (await call(`${s.scheme}://${s.hosts[0]}/robots.txt`)).status),
      ),
    );
    assert.deepEqual([...plain].sort(), [200, 403, 404]);
  });
});

/** A crawl in few lines: one page after the other, links by expression, rules by prefix. */
const simpleCrawl = async (server: ServedWorld, seeds: readonly string[]): Promise<Set<string>> => {
  const answered = new Set<string>();
  const open = seeds.map((line) => ({ url: line.includes('://') ? line : `https://${line}/`, hops: 0 }));
  for (const line of seeds) {
    const fails = !line.includes('://') && (await call(`https://${line}/robots.txt`, server)).status === 0;
    if (fails) open.push({ url: `http://${line}/`, hops: 0 });
  }
  const seen = new Set<string>(open.map(({ url }) => url));
  const robots = new Map<string, string | null>();
  const rulesOf = async (origin: string): Promise<string | null> => {
    let reply = await call(`${origin}/robots.txt`, server);
    for (let at = `${origin}/robots.txt`; reply.status === 301; reply = await call(at, server))
      at = new URL(String(reply.headers.location), at).href;
    if (reply.status >= 500 || reply.fault !== '') return null;
    return reply.status === 200 ? reply.body.toString().replace(/^\ufeff/, '') : '';
  };
  for (let step = open.shift(); step; step = open.shift()) {
    const url = new URL(step.url);
    if (!robots.has(url.origin)) robots.set(url.origin, await rulesOf(url.origin));
    const rules = robots.get(url.origin);
    if (rules === null || rules === undefined) continue;
    const forAll = rules
      .split(/user-agent\s*:/i)
      .filter((group) => (/gossamer/i.test(rules) ? /^\s*gossamer/i : /^\s*\*/).test(group))
      .join('\n');
    const path = url.pathname + url.search;
    const forbidden = [...forAll.matchAll(/disallow:\s*(\/\S*)/gi)].some(
      ([, rule = '']) =>
        path.startsWith(rule) ||
        (rule === '/*.cgi$' && path.endsWith('.cgi')) ||
        (rule === '/*?*session=' && path.includes('session=')),
    );
    if (forbidden && !path.startsWith('/private/open/')) continue;
    let reply = await call(step.url, server);
    if (reply.headers['retry-after']) reply = await call(step.url, server);
    if ((reply.fault !== '' && reply.fault !== 'cut') || reply.status >= 500) continue;
    answered.add(step.url);
    const follow = (href: string, base: URL, hops: number): void => {
      const to = URL.canParse(href, base.href) ? new URL(href, base) : null;
      if (!to || !/^https?:$/.test(to.protocol) || /\.(png|jpg|mp4|zip)$/i.test(to.pathname)) return;
      to.hash = '';
      const segments = to.pathname.split('/').slice(1);
      if (segments.length > 20 || /\/round(\/round){3}/.test(to.pathname) || to.href.length > 2_000 || hops > 5) return;
      if (!seen.has(to.href)) open.push({ url: to.href, hops });
      seen.add(to.href);
    };
    const location = reply.headers.location;
    if (location !== undefined) follow(String(location), url, step.hops + 1);
    if (!String(reply.headers['content-type']).startsWith('text/html') || reply.headers['x-robots-tag']) continue;
    for (const [href, base] of hrefsIn(reply, url)) follow(href, base, 0);
  }
  return answered;
};

const hrefsIn = (reply: Reply, url: URL): [string, URL][] => {
  const open = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync }[
    String(reply.headers['content-encoding'])
  ];
  const bytes = open ? open(reply.body) : reply.body;
  const html = new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-8')
    .decode(bytes)
    .replace(/<!--[^]*?-->|<(script|style|textarea)[^]*?<\/\1>/g, '');
  if (/<meta name="robots" content="nofollow">/.test(html)) return [];
  const base = new URL(/<base href="(.*?)"/.exec(html)?.[1] ?? '', url);
  return [...html.matchAll(/<(?:a|area|link)\b(?:[^>"']|"[^"]*"|'[^']*')*>/gi)]
    .filter(([tag]) => !/rel="[^"]*nofollow/i.test(tag) && !/rel="stylesheet"/.test(tag))
    .flatMap(([tag]) => {
      const found = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag);
      const href = (found?.[1] ?? found?.[2] ?? found?.[3] ?? '')
        .replaceAll('&amp;', '&')
        .replaceAll('&eacute;', 'é')
        .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, digits: string) =>
          String.fromCodePoint(parseInt(digits, hex ? 16 : 10)),
        );
      return href === '' ? [] : [[href, base] as [string, URL]];
    });
};

describe('a crawl of the tiny world', () => {
  test('a simple crawl over HTTP finds what the walk over the model finds, and its record is clean but for haste', async () => {
    const tiny = createWorld(tinyPlan);
    const server = await serveWorld(tiny);
    try {
      const answered = await simpleCrawl(server, tiny.seeds());
      const { pages, tolerated } = tiny.reachable();
      assert.deepEqual(
        [...answered].filter((url) => !pages.has(url) && !tolerated.has(url)),
        [],
      );
      assert.deepEqual(
        [...pages].filter((url) => !answered.has(url)),
        [],
      );
      const report = server.record.report({ delayMs: 0, delayOf: () => 0 });
      assert.deepEqual(
        [
          report.tooEarly,
          report.overlaps,
          report.forbidden,
          report.twice,
          report.missing,
          report.unexpected,
          report.beforeRobots,
        ],
        [[], [], [], [], [], [], []],
      );
      assert.equal(report.pages, answered.size);
      assert.ok(server.record.report({ delayMs: 60_000 }).tooEarly.length > 100);
    } finally {
      await server.close();
    }
  });
});
