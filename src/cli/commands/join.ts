/** `gossamer join`: one more process for a crawl in a shared store. */

import { joinCrawl } from '../../run/open.ts';
import { visible } from '../../lib/visible.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf } from '../config-file.ts';
import { CREDENTIALS_FLAG, credentialsOf } from '../credentials-file.ts';
import type { Flag } from '../flags.ts';
import { givenSettings, SETTING_FLAGS, type Group } from '../setting-flags.ts';
import { readShown, RUN_FLAGS, watchRun } from '../watch-run.ts';
import { crawlDirOf } from './dir.ts';

const WHAT: Group = 'What is crawled';
const OUTPUT: Group = 'Output';

const FLAGS: readonly Flag[] = [
  { ...CONFIG_FLAG, group: WHAT, says: 'settings from a file; its seeds are left alone' },
  { ...CREDENTIALS_FLAG, group: WHAT },
];

export const joinCommand: Command = {
  name: 'join',
  usage: 'join <new-dir> --store WHERE --name NAME [flags]',
  says: "Take part in a crawl in Redis or PostgreSQL, from this machine or another. Its settings hold here too; what is a member's own, such as threads, can be given. The new directory gets an archive of its own, and is resumed like any other.",
  flags: [...FLAGS, ...SETTING_FLAGS, ...RUN_FLAGS.map((flag) => ({ ...flag, group: OUTPUT }))],
  example: 'gossamer join ./second --store redis://10.0.0.5 --name news',
  goesOnUnread: true,
  run: async (read) => {
    const shown = readShown(read);
    const file = await configOf(read);
    const say = (text: string): void => console.error(visible(text));
    const crawl = await joinCrawl({
      dir: read.words.length === 0 && file.dir !== null ? file.dir : crawlDirOf(read),
      settings: { ...file.settings, ...givenSettings(read) },
      credentials: await credentialsOf(read, say),
      say,
    });
    return watchRun(crawl, shown, { retryParked: false });
  },
};
