/** A finished crawl of two members in a shared store, for tests that look at what they left. */

import assert from 'node:assert/strict';
import { readIdentity } from '../../src/folder/folder.ts';
import { memberOf } from '../../src/folder/store-place.ts';
import { runBinary, type Ran } from './binary.ts';
import { linesOf } from './lines.ts';
import { MEMBERS, membersOn, type Members } from './shared-members.ts';
import { SHARED_STORES, type SharedStoreName } from './shared-servers.ts';
import { assertCode, onStage, plainPlan, type Flags, type ListedPage } from './stage.ts';
import { until } from './until.ts';

export interface TwoMembers extends Members {
  readonly url: string;
  /** Runs the command, which must end with that code. */
  ran(code: number, ...args: readonly string[]): Promise<Ran>;
  /** Settled pages as `pages` lists them. */
  pages(...dirs: readonly string[]): Promise<ListedPage[]>;
  /** Both, where the crawl is in another store. */
  at(url: string): Pick<TwoMembers, 'ran' | 'pages'>;
  /** The id of the member whose directory that is. */
  idOf(dir: string): string;
}

export interface TwoMembersOptions {
  readonly settings?: Flags;
  readonly sites?: number;
  readonly pages?: number;
  /** Whether it is finished; else links wait. */
  readonly isWhole?: boolean;
}

/** Requests after which a member is stopped, far fewer than there are pages. */
const SOME = 25;

/** Both settle something: one after the other, each for some pages, and then the first goes on to the end. */
export const withTwoMembers = async (
  store: SharedStoreName,
  story: (two: TwoMembers) => Promise<void>,
  { settings = {}, sites = 16, pages = 160, isWhole = true }: TwoMembersOptions = {},
): Promise<void> => {
  const server = await SHARED_STORES[store]();
  try {
    await onStage(plainPlan(sites, pages, 14), async (stage) => {
      const url = await server.place();
      const flags = { store: url, delay: '600ms', 'keep-links': true, ...settings } as const;
      const members = membersOn(stage, { url, name: 'both', settings: flags });
      const at: TwoMembers['at'] = (place) => {
        const env = { ...process.env, GOSSAMER_STORE: place, GOSSAMER_STORE_TO: url };
        const ran: TwoMembers['ran'] = async (code, ...args) => {
          const one = await runBinary(args, { cwd: stage.home, env });
          assertCode(one, code);
          return one;
        };
        const pages: TwoMembers['pages'] = async (...dirs) =>
          linesOf((await ran(0, 'pages', ...dirs, '--format', 'jsonl')).stdout).map(
            (line) => JSON.parse(line) as ListedPage,
          );
        return { ran, pages };
      };
      for (const name of MEMBERS) {
        const begun = stage.served.record.requests.length;
        const run = members.start(name);
        await until('some pages came', () => stage.served.record.requests.length >= begun + SOME || run.isOver());
        run.send('SIGTERM');
        assertCode(await run.ended, 3);
      }
      if (isWhole) assertCode(await members.start('first').ended, 0);
      const two: TwoMembers = {
        ...members,
        url,
        at,
        ...at(url),
        idOf: (dir) => memberOf(readIdentity(dir)),
      };
      await story(two);
    });
  } finally {
    await server.remove();
  }
};

/** Which of the two has the records of a page. */
export const isIn = (files: readonly string[], { warc_file }: Pick<ListedPage, 'warc_file'>): boolean => {
  assert.notEqual(warc_file, undefined);
  return warc_file !== null && files.includes(warc_file);
};
