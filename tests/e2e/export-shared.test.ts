/** `gossamer export` of crawls in shared stores: the same rows as `pages`, the index and the links. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBinary } from '../support/binary.ts';
import { SHARED_STORES, type SharedStoreName } from '../support/shared-servers.ts';
import { assertCode, flagWords, onStage, plainPlan } from '../support/stage.ts';

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: pages, index and links are exported, and links of another directory are missed aloud`, async () => {
    const server = await SHARED_STORES[store]();
    const place = (process.env.GOSSAMER_STORE = await server.place()); // those who read have the password from there
    try {
      await onStage(plainPlan(4, 40, 15), async (stage) => {
        assertCode(await stage.crawl({ store: place, name: 'one', 'keep-links': true, 'max-pages': 20 }), 0);
        const exported = async (
          dir: string,
          ...words: readonly string[]
        ): Promise<{ lines: string[]; stderr: string }> => {
          const ran = await runBinary(['export', dir, ...words]);
          assertCode(ran, 0);
          return { lines: linesOf(ran.stdout), stderr: ran.stderr };
        };
        const urlOf = (line: string): string => (JSON.parse(line.slice(line.indexOf('{'))) as { url: string }).url;
        const wanted = (await stage.pages()).map(({ url }) => url as string);
        assert.equal(wanted.length, 20);
        assert.deepEqual((await exported(stage.dir, '--format', 'jsonl')).lines.map(urlOf), wanted);
        assert.deepEqual(
          (await exported(stage.dir, '--format', 'cdxj')).lines.map(urlOf).toSorted(),
          wanted.toSorted(),
        );
        const links = await exported(stage.dir, '--format', 'jsonl', '--links');
        assert.equal(links.stderr, '');
        const found = new Set(links.lines);
        for (const { via, url } of (await stage.pages()).filter((page) => page.via !== ''))
          assert.ok(found.has(JSON.stringify({ from: via, to: url })), url);

        const second = join(stage.home, 'second');
        assertCode(await stage.gossamer('set', stage.dir, '--store', place, '--max-pages', 'none'), 0);
        assertCode(await runBinary(['join', second, ...flagWords({ store: place, name: 'one' })]), 0);
        const { stderr } = await exported(second, '--format', 'csv', '--links');
        const all = (await exported(second, '--format', 'jsonl')).lines.length;
        if (store === 'postgres') {
          assert.equal(all, 40, 'the rows of all are in the database');
          assert.match(
            stderr,
            /^the archive of \d+ pages is not in ".*second": their links are missing; give the directories of the other members of this crawl, too\n$/,
          );
        } else {
          assert.equal(all, 20, 'the rows of each are in its own directory');
          assert.match(
            stderr,
            /^20 links settled by 1 other member of this crawl are not among these: give its directory, too/,
          );
        }
      });
    } finally {
      delete process.env.GOSSAMER_STORE;
      await server.remove();
    }
  });
}
