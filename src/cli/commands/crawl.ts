/** `gossamer crawl`: a new crawl from seeds. */

import { createCrawl } from '../../crawl/open.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Command } from '../command.ts';
import type { Flag } from '../flags.ts';
import { givenSettings, SETTING_FLAGS } from '../setting-flags.ts';
import { readShown, RUN_FLAGS, watchRun } from '../watch-run.ts';

const FLAGS: readonly Flag[] = [
  { name: 'dir', value: 'DIR', says: 'where the crawl lives (default ./crawl)' },
  { name: 'url', value: 'URL', repeatable: true, says: 'a seed on the command line, instead of or beside the file; repeatable' },
  { name: 'exclude-file', value: 'FILE', says: 'sites never to call: a registrable domain or a host per line' },
];

export const crawlCommand: Command = {
  name: 'crawl',
  usage: 'crawl <seed-file> --email ADDRESS [flags]',
  says: 'Start a crawl. A seed is a domain, a host or a URL; one a line, # for comments.',
  flags: [...SETTING_FLAGS.slice(0, 1), ...FLAGS, ...SETTING_FLAGS.slice(1), ...RUN_FLAGS],
  example: 'gossamer crawl seeds.txt --email you@example.org --max-pages 10000',
  run: async (read) => {
    const [file, ...rest] = read.words;
    const urls = read.values.get('url') ?? [];
    if (rest.length > 0) throw new UsageError(`one seed file, please: "${rest[0]}" is one too many`);
    if (file === undefined && urls.length === 0) throw new UsageError('seeds are missing: give a seed file, or --url URL');
    const shown = readShown(read);
    const crawl = await createCrawl({
      dir: read.values.get('dir')?.[0] ?? './crawl',
      settings: givenSettings(read),
      seeds: { file: file ?? null, urls },
      excludeFile: read.values.get('exclude-file')?.[0] ?? null,
      say: (text) => console.error(text),
    });
    return watchRun(crawl, shown, { retryParked: false });
  },
};
