/** `gossamer crawl`: a new crawl from seeds. */

import { createCrawl } from '../../run/open.ts';
import type { SeedSource } from '../../folder/seeds.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf, type FileConfig } from '../config-file.ts';
import { CREDENTIALS_FLAG, credentialsOf } from '../credentials-file.ts';
import type { Flag, Read } from '../flags.ts';
import { givenSettings, SETTING_FLAGS, type Group } from '../setting-flags.ts';
import { readShown, RUN_FLAGS, watchRun } from '../watch-run.ts';

const WHAT: Group = 'What is crawled';
const OUTPUT: Group = 'Output';

const FLAGS: readonly Flag[] = [
  { ...CONFIG_FLAG, group: WHAT },
  { name: 'dir', value: 'DIR', group: WHAT, says: 'where the crawl lives (default ./crawl)' },
  {
    name: 'url',
    value: 'URL',
    repeatable: true,
    group: WHAT,
    says: 'a seed, instead of or beside the file; repeatable',
  },
  { name: 'exclude-file', value: 'FILE', group: WHAT, says: 'sites never to visit: a domain or a host per line' },
  { ...CREDENTIALS_FLAG, group: WHAT },
];

export const crawlCommand: Command = {
  name: 'crawl',
  usage: 'crawl <seed-file> --email ADDRESS [flags]',
  says: 'Start a crawl. A seed is a domain, a host or a URL; one a line, # for comments.',
  flags: [
    ...SETTING_FLAGS.slice(0, 1),
    ...FLAGS,
    ...SETTING_FLAGS.slice(1),
    ...RUN_FLAGS.map((flag) => ({ ...flag, group: OUTPUT })),
  ],
  example: 'gossamer crawl seeds.txt --email you@example.org --max-pages 10000',
  goesOnUnread: true,
  run: async (read) => {
    const shown = readShown(read);
    const file = await configOf(read);
    const say = (text: string): void => console.error(visible(text));
    const crawl = await createCrawl({
      dir: read.values.get('dir')?.[0] ?? file.dir ?? './crawl',
      settings: { ...file.settings, ...givenSettings(read) },
      seeds: seedsOf(read, file),
      excludeFile: read.values.get('exclude-file')?.[0] ?? file.excludeFile,
      credentials: await credentialsOf(read, say),
      say,
    });
    return watchRun(crawl, shown, { retryParked: false });
  },
};

/** The seeds of the command line, instead of those of the file. */
const seedsOf = (read: Read, file: FileConfig): SeedSource => {
  const [seedFile, ...rest] = read.words;
  const urls = read.values.get('url') ?? [];
  if (rest.length > 0) throw new UsageError(`one seed file, please: "${rest[0]}" is one too many`);
  if (seedFile !== undefined || urls.length > 0) return { file: seedFile ?? null, urls };
  if (file.seeds === null)
    throw new UsageError('seeds are missing: give a seed file, or --url URL, or name them in the --config file');
  return file.seeds;
};
