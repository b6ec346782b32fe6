/** A crawl of the small web that shares no code with ours finds what the walk over the model finds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { tinyPlan } from '../src/world/presets.ts';
import { type ServedWorld, serveWorld } from '../src/world/serve.ts';
import { createWorld } from '../src/world/world.ts';
import { requestWorld, type Reply } from './support/world-request.ts';

/** A crawl in few lines: one page after the other, links by expression, rules by prefix. */
const simpleCrawl = async (server: ServedWorld, seeds: readonly string[]): Promise<Set<string>> => {
  const answered = new Set<string>();
  const open = seeds.map((line) => ({ url: line.includes('://') ? line : `https://${line}/`, hops: 0 }));
  for (const line of seeds) {
    const fails = !line.includes('://') && (await requestWorld(`https://${line}/robots.txt`, server)).status === 0;
    if (fails) open.push({ url: `http://${line}/`, hops: 0 });
  }
  const seen = new Set<string>(open.map(({ url }) => url));
  const robots = new Map<string, string | null>();
  const rulesOf = async (origin: string): Promise<string | null> => {
    let reply = await requestWorld(`${origin}/robots.txt`, server);
    for (let at = `${origin}/robots.txt`; reply.status === 301; reply = await requestWorld(at, server))
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
    let reply = await requestWorld(step.url, server);
    if (reply.headers['retry-after']) reply = await requestWorld(step.url, server);
    if ((reply.fault !== '' && reply.fault !== 'cut') || reply.status >= 500) continue;
    answered.add(step.url);
    const follow = (href: string, base: URL, hops: number): void => {
      const to = URL.canParse(href, base.href) ? new URL(href, base) : null;
      if (!to || !/^https?:$/.test(to.protocol) || to.host.length > 253) return;
      if (/\.(png|jpg|mp4|zip)$/i.test(to.pathname) || /\.dll$/.test(to.pathname + to.search)) return;
      to.hash = '';
      const segments = to.pathname.split('/').slice(1);
      if (segments.length > 20 || /\/round(\/round){3}/.test(to.pathname) || to.href.length > 2_000 || hops > 5) return;
      if (!seen.has(to.href)) open.push({ url: to.href, hops });
      seen.add(to.href);
    };
    const location = reply.headers.location;
    if (location !== undefined) follow(Buffer.from(String(location), 'latin1').toString(), url, step.hops + 1);
    if (!/^text\/html|xml/.test(String(reply.headers['content-type'])) || reply.headers['x-robots-tag']) continue;
    const [, refresh] = /url=(.*)/.exec(String(reply.headers.refresh)) ?? [];
    if (refresh !== undefined) follow(refresh, url, 0);
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
  if (/<(?:rss|feed|rdf:RDF)\b/.test(html)) return hrefsInFeed(html, url);
  if (/<meta name="robots" content="nofollow">/.test(html)) return [];
  const base = new URL(/<base href="(.*?)"/.exec(html)?.[1] ?? '', url);
  const shown = html.replace(/(<iframe src=[^>]*>)[^]*?(?=<\/iframe>)/g, '$1').replace(/<\/frameset>\n*<frame.*?>/, '');
  const refreshes = [...shown.matchAll(/<meta[^>]*>/gi)]
    .filter(([tag]) => /http-equiv="?refresh/i.test(tag))
    .flatMap(([tag]) => /content="[\d.]+[ ;,]+(?:url *= *)?'?(.*?)["']/i.exec(tag)?.[1] ?? [])
    .map((target) => [target, base] as [string, URL]);
  const links = [...shown.matchAll(/<(?:a|area|link|i?frame)\b(?:[^>"']|"[^"]*"|'[^']*')*>/gi)]
    .filter(([tag]) => !/rel="[^"]*nofollow/i.test(tag) && !/rel="stylesheet"|srcdoc/.test(tag))
    .flatMap(([tag]) => {
      const found = /\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag);
      const href = (found?.[1] ?? found?.[2] ?? found?.[3] ?? '')
        .replaceAll('&amp;', '&')
        .replaceAll('&eacute;', 'é')
        .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, digits: string) =>
          String.fromCodePoint(parseInt(digits, hex ? 16 : 10)),
        );
      return href === '' ? [] : [[href, base] as [string, URL]];
    });
  return [...refreshes, ...links];
};

const hrefsInFeed = (xml: string, url: URL): [string, URL][] => {
  const base = new URL(/xml:base="(.*?)"/.exec(xml)?.[1] ?? '', url);
  const entries = [...xml.matchAll(/<(item|entry)>([^]*?)<\/\1>/g)].map(([, , inside = '']) =>
    inside.replace(/<(source|description)>[^]*?<\/\1>|<link rel="(?!alternate).*?>/g, ''),
  );
  return entries.flatMap((entry) => {
    const found = /<(?:link|guid)>(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?<|<link\b.*?href=["'](.*?)["']/.exec(entry);
    const href = found?.[1] ?? found?.[2];
    return href === undefined ? [] : [[href.replaceAll('&amp;', '&'), base] as [string, URL]];
  });
};

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
