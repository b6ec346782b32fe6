/** `gossamer resume`: goes on with a crawl where it was. */

import { reopenCrawl } from '../../run/open.ts';
import { visible } from '../../lib/visible.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf } from '../config-file.ts';
import { CREDENTIALS_FLAG, credentialsOf } from '../credentials-file.ts';
import type { Flag } from '../flags.ts';
import { checkedUrls } from '../seed-words.ts';
import { givenSettings, SETTING_FLAGS, type Group } from '../setting-flags.ts';
import { readShown, RUN_FLAGS, watchRun } from '../watch-run.ts';
import { crawlDirOf } from './dir.ts';

const WHAT: Group = 'What is crawled';
const OUTPUT: Group = 'Output';

const FLAGS: readonly Flag[] = [
  { ...CONFIG_FLAG, group: WHAT, says: 'settings from a file; its seeds are left alone' },
  { name: 'url', value: 'URL', repeatable: true, group: WHAT, says: 'one more seed; repeatable' },
  { name: 'seeds', value: 'FILE', group: WHAT, says: 'more seeds from a file, or - for standard input' },
  { name: 'exclude-file', value: 'FILE', group: WHAT, says: 'sites never to visit, instead of those given before' },
  { ...CREDENTIALS_FLAG, group: WHAT },
  { name: 'retry-parked', group: WHAT, says: 'ask again origins that could not be reached' },
];

export const resumeCommand: Command = {
  name: 'resume',
  usage: 'resume <dir> [flags]',
  says: 'Go on with a crawl that was stopped, killed, or reached a limit. Its settings are in it; those given here replace them for good, and for all its members.',
  flags: [
    ...FLAGS,
    ...SETTING_FLAGS.map((flag) => (flag.name === 'store' ? { ...flag, rare: true } : flag)),
    ...RUN_FLAGS.map((flag) => ({ ...flag, group: OUTPUT })),
  ],
  example: 'gossamer resume ./crawl --max-pages 20000',
  goesOnUnread: true,
  run: async (read) => {
    const shown = readShown(read);
    const file = await configOf(read);
    const say = (text: string): void => console.error(visible(text));
    const crawl = await reopenCrawl({
      dir: read.words.length === 0 && file.dir !== null ? file.dir : crawlDirOf(read),
      settings: { ...file.settings, ...givenSettings(read) },
      // Not those of the file: the crawl began with them.
      seeds: { files: read.values.get('seeds') ?? [], urls: checkedUrls(read.values.get('url') ?? []) },
      excludeFile: read.values.get('exclude-file')?.[0] ?? file.excludeFile,
      credentials: await credentialsOf(read, say),
      say,
    });
    return watchRun(crawl, shown, { retryParked: read.switches.has('retry-parked') });
  },
};
