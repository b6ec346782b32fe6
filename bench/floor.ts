/**
 * The floor: a bare loop that fetches a list of pages with our HTTP code, one connection per page, and
 * extracts their links with our parser. No text, robots.txt, queue, store or archive.
 *
 * With `records` it also finds the text and makes the archive records, to show what those cost.
 */

import { readFileSync } from 'node:fs';
import { readConnectTo } from '../src/fetch/connect-to.ts';
import { createFetcher } from '../src/fetch/fetcher.ts';
import { createClock } from '../src/lib/clock.ts';
import { parsePage } from '../src/parse/page.ts';
import { createPageWork } from '../src/threads/page-work.ts';

const [listFile, slots, mode, ...rules] = process.argv.slice(2) as [string, string, 'links' | 'records', ...string[]];
const urls = readFileSync(listFile, 'utf8').split('\n').filter(Boolean);
const BODY_BYTES_MAX = 2 * 1024 ** 2;

const clock = createClock();
const fetcher = createFetcher({
  clock,
  userAgent: 'Gossamer/bench (+contact; bench@example.org)',
  from: 'bench@example.org',
  socketsMax: Number(slots),
  bodyMemoryBytes: 256 * 1024 ** 2,
  connectTimeoutMs: 10_000,
  responseTimeoutMs: 30_000,
  totalTimeoutMs: 30_000,
  verifyTls: false,
  allowPrivateAddresses: true,
  connectTo: rules.map((rule) => readConnectTo(rule)!),
});
const work = createPageWork({
  settings: { keep: 'all', bodyBytesMax: BODY_BYTES_MAX },
  productToken: 'gossamer',
  now: clock.now,
});

let next = 0;
let pages = 0;
let links = 0;
const startedAt = performance.now();

const loop = async (): Promise<void> => {
  for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
    const exchange = await fetcher.fetch({ url, bodyBytesMax: BODY_BYTES_MAX, wantsBody: () => true, keepMs: 0 });
    if (exchange.kind === 'answered') {
      const findings =
        mode === 'records'
          ? work({ lease: 0, robots: [], page: exchange, read: true }).findings!
          : parsePage({
              url,
              headers: exchange.headers,
              body: exchange.body,
              textBytesMax: BODY_BYTES_MAX,
              productToken: 'gossamer',
              text: false,
            }).findings;
      for (const href of findings.hrefs) if (URL.parse(href, findings.base)) links++;
      pages++;
    }
    fetcher.forget(exchange);
  }
};

await Promise.all(Array.from({ length: Number(slots) }, loop));
await fetcher.close();
console.log(JSON.stringify({ pages, links, wallMs: performance.now() - startedAt }));
