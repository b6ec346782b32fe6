/** `gossamer resume`: goes on with a crawl where it was. */

import { reopenCrawl } from '../../crawl/open.ts';
import type { Command } from '../command.ts';
import type { Flag } from '../flags.ts';
import { givenSettings, SETTING_FLAGS } from '../setting-flags.ts';
import { readShown, RUN_FLAGS, watchRun } from '../watch-run.ts';
import { crawlDirOf } from './dir.ts';

const FLAGS: readonly Flag[] = [
  { name: 'url', value: 'URL', repeatable: true, says: 'one more seed; repeatable' },
  { name: 'seeds', value: 'FILE', says: 'more seeds from a file' },
  { name: 'exclude-file', value: 'FILE', says: 'sites never to call, instead of those given before' },
  { name: 'retry-parked', says: 'call sites again that were parked because they failed too often' },
];

export const resumeCommand: Command = {
  name: 'resume',
  usage: 'resume <dir> [flags]',
  says: 'Go on with a crawl that was stopped, killed, or reached a limit. Its settings are in it; those given here replace them for good.',
  flags: [...FLAGS, ...SETTING_FLAGS, ...RUN_FLAGS],
  example: 'gossamer resume ./crawl --max-pages 20000',
  run: async (read) => {
    const shown = readShown(read);
    const crawl = await reopenCrawl({
      dir: crawlDirOf(read),
      settings: givenSettings(read),
      seeds: { file: read.values.get('seeds')?.[0] ?? null, urls: read.values.get('url') ?? [] },
      excludeFile: read.values.get('exclude-file')?.[0] ?? null,
      say: (text) => console.error(text),
    });
    return watchRun(crawl, shown, { retryParked: read.switches.has('retry-parked') });
  },
};
