/** A name server that fails for everybody parks nobody: the crawl waits for it, says so, and goes on. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { endBinaries, runBinary, startBinary } from '../support/binary.ts';
import { htmlOf } from '../support/few-pages.ts';
import { startNameServer, type Zone } from '../support/name-server.ts';
import { assertCode } from '../support/stage.ts';
import { until } from '../support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-cut-off-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

const KNOWN = ['s1.test', 's2.test', 's3.test', 's4.test'];
const LATER = Array.from({ length: 20 }, (_, n) => `later${n}.test`);

const wordsFor = (dir: string, nameServer: string, hosts: readonly string[], port: number): string[] => {
  const seeds = `${dir}.txt`;
  writeFileSync(seeds, hosts.map((host) => `http://${host}:${port}/\n`).join(''));
  return [
    ...['crawl', seeds, '--dir', dir, '--email', 'a@example.org', '--delay', '10ms', '--trouble-delay', '10ms'],
    ...['--park-after', '2', '--disk-reserve', '10MiB', '--name-server', nameServer, '--allow-private-addresses'],
  ];
};

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

for (const [says, trouble] of [
  ['that there is no such name', { code: 3 }],
  ['that it failed', { code: 2 }],
  ['nothing', { silent: true }],
] as const satisfies readonly (readonly [string, Zone[string]])[]) {
  test(`a name server that says ${says}, whatever it is asked, parks nobody`, async () => {
    const zone: Record<string, Zone[string]> = {};
    const well = (): void => void [...KNOWN, ...LATER].forEach((host) => (zone[host] = { a: ['127.0.0.1'], ttl: 1 }));
    const ill = (): void => void [...KNOWN, ...LATER].forEach((host) => (zone[host] = trouble));
    well();
    const names = await startNameServer(zone);
    const fronts = new Set<string>();
    const asked = new Set<string>();
    const server = createServer((request, response) => {
      const host = request.headers.host!.replace(/:.*/, '');
      if (request.url === '/robots.txt') return void response.writeHead(404).end();
      asked.add(host);
      if (KNOWN.includes(host)) fronts.add(host);
      // The last of the known sites leads to all others, and from then on no name can be found.
      const isLast = fronts.size === KNOWN.length && KNOWN.includes(host);
      if (isLast) ill();
      const { port } = server.address() as AddressInfo;
      const links = isLast ? LATER.map((name) => `http://${name}:${port}/`) : [];
      response.setHeader('content-type', 'text/html').end(htmlOf(host, links));
    });
    const port = await portOf(server);
    const dir = join(home, says.replaceAll(' ', '-'));
    try {
      const run = startBinary(wordsFor(dir, names.address, KNOWN, port));
      await until('it says that this machine is cut off', () => run.said().includes('cut off'));
      assert.match(run.said(), /no host name can be looked up, not even those of sites that answered before/);
      well();
      const ran = await run.ended;
      assertCode(ran, 0);
      assert.match(ran.stderr + ran.stdout, /the crawl goes on: this machine was cut off for/);
      assert.deepEqual([...asked].toSorted(), [...KNOWN, ...LATER].toSorted());
      const status = JSON.parse((await runBinary(['status', dir, '--json'])).stdout) as {
        parked: number;
        pages: number;
      };
      assert.deepEqual([status.parked, status.pages], [0, KNOWN.length + LATER.length]);
    } finally {
      await names.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
}

test('a crawl in which nothing ever answered ends, and says what to look at', async () => {
  const names = await startNameServer({});
  try {
    const ran = await runBinary(wordsFor(join(home, 'no-answer'), names.address, [...KNOWN, ...LATER], 8080));
    assertCode(ran, 5);
    assert.match(ran.stdout, /24 seeds could not be reached:/);
    assert.match(ran.stdout, /and 19 more/);
    assert.match(
      ran.stdout,
      /nothing answered in the whole crawl: check the network and the name servers of this machine/,
    );
  } finally {
    await names.close();
  }
});
