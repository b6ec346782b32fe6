/** A crawl of two members is moved with both directories: to another store and back, to other shards. */

import assert from 'node:assert/strict';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readIdentity } from '../../src/folder/folder.ts';
import { SHARED_STORES, type SharedServer, type SharedStoreName } from '../support/shared-servers.ts';
import type { ListedPage, Status } from '../support/stage.ts';
import { withTwoMembers, type TwoMembers } from '../support/two-members.ts';

const OTHER: Readonly<Record<SharedStoreName, SharedStoreName>> = { redis: 'postgres', postgres: 'redis' };

const urlsOf = (pages: readonly ListedPage[]): string[] => pages.map(({ url }) => url).toSorted();

const statusOf = async ({ ran }: Pick<TwoMembers, 'ran'>, dir: string): Promise<Status> =>
  JSON.parse((await ran(0, 'status', dir, '--json')).stdout) as Status;

const numbersOf = ({ waiting, parked, held, settled, pages, known, sites }: Status): object => ({
  ...{ waiting, parked, held, settled, pages, known, sites },
});

interface Listed {
  readonly members: readonly { readonly member: string; readonly settled: number }[];
}

const membersOf = async ({ ran }: Pick<TwoMembers, 'ran'>, dir: string): Promise<object> => {
  const { members } = JSON.parse((await ran(0, 'members', dir, '--json')).stdout) as Listed;
  return Object.fromEntries(members.map(({ member, settled }) => [member, settled]));
};

const withServer = async (store: SharedStoreName, story: (server: SharedServer) => Promise<void>): Promise<void> => {
  const server = await SHARED_STORES[store]();
  try {
    await story(server);
  } finally {
    await server.remove();
  }
};

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: a crawl of two members moves to ${OTHER[store]} and other shards with both directories, and back, and goes on`, () =>
    withServer(OTHER[store], (server) =>
      withTwoMembers(
        store,
        async (two) => {
          const { first, second } = two.dirs;
          const status = numbersOf(await statusOf(two, first));
          const members = await membersOf(two, first);
          const before = await two.pages(first, second);
          const to = await server.place();

          const alone = await two.ran(1, 'migrate', first, '--to', to, '--shards', '7');
          assert.match(alone.stderr, /pages whose rows or archive are with members that are not given: [0-9a-f]{8}/);
          assert.match(alone.stderr, /give the directories of all members; one that is gone for good is given up by/);
          assert.equal(readIdentity(first).settings.store, two.url.replace(/:[^:/@]+@/, '@'));
          const embedded = await two.ran(2, 'migrate', first, second, '--to', 'sqlite');
          assert.match(embedded.stderr, /cannot move into the store of one of them: give the address of a server/);

          const copy = `${second}-copy`;
          cpSync(second, copy, { recursive: true });
          const there = two.at(to);
          const assertWhole = async (at: Pick<TwoMembers, 'ran' | 'pages'>): Promise<void> => {
            await at.ran(0, 'verify', first, second, '--all');
            assert.deepEqual(numbersOf(await statusOf(at, second)), status);
            assert.deepEqual(await membersOf(at, first), members);
            assert.deepEqual(urlsOf(await at.pages(first, second)), urlsOf(before));
          };
          await two.ran(0, 'migrate', first, second, '--to', to, '--shards', '7');
          await assertWhole(there);

          // As if it had been killed when one directory was over, and the other not.
          if (OTHER[store] === 'redis') renameSync(join(second, 'pages.db'), join(copy, 'pages.db.new'));
          rmSync(second, { recursive: true });
          cpSync(copy, second, { recursive: true });
          const halves = await two.ran(2, 'verify', first, second);
          assert.match(halves.stderr, /a move was not finished; run "gossamer migrate" with all its directories again/);
          const late = await two.ran(2, 'resume', second);
          assert.match(late.stderr, /was moved to .* as "both": go on with it there/);
          await two.ran(0, 'migrate', first, second, '--to', to, '--shards', '7');
          assert.equal(existsSync(join(second, 'pages.db')), OTHER[store] === 'redis');
          await assertWhole(there);

          // Back under another name, and on to the end.
          await there.ran(0, 'migrate', first, second, '--to', two.url, '--name', 'back', '--shards', '64');
          await assertWhole(two);
          await Promise.all([two.ran(0, 'resume', first), two.ran(0, 'resume', second)]);
          await two.ran(0, 'verify', first, second, '--all');
          const all = await two.pages(first, second);
          assert.equal(new Set(urlsOf(all)).size, all.length);
          assert.ok(all.length > before.length);
          assert.equal((await statusOf(two, first)).waiting, 0);
        },
        { isWhole: false },
      ),
    ));
}
