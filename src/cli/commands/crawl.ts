/** `gossamer crawl`: a new crawl from seeds. */

import { createCrawl } from '../../run/open.ts';
import type { SeedSource } from '../../folder/seeds.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import { withoutPassword } from '../../store/address.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf, type FileConfig } from '../config-file.ts';
import { CREDENTIALS_FLAG, credentialsOf } from '../credentials-file.ts';
import type { Flag, Read } from '../flags.ts';
import { hasPipedInput, seedsOfWords } from '../seed-words.ts';
import { givenSettings, SETTING_FLAGS, type Group } from '../setting-flags.ts';
import { EMAIL_VARIABLE, userConfig } from '../user-config.ts';
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
    says: 'a seed, as a word without a flag is; repeatable',
  },
  { name: 'exclude-file', value: 'FILE', group: WHAT, says: 'sites never to visit: a domain or a host per line' },
  { ...CREDENTIALS_FLAG, group: WHAT },
];

const say = (text: string): void => console.error(visible(text));

export const crawlCommand: Command = {
  name: 'crawl',
  usage: 'crawl <url-or-seed-file>... --email ADDRESS [flags]',
  says: 'Start a crawl. A file has one seed a line; - is standard input.',
  flags: [
    ...SETTING_FLAGS.slice(0, 1).map((email) => ({
      ...email,
      says: `contact for site owners; required, or ${EMAIL_VARIABLE}`,
    })),
    ...FLAGS,
    ...SETTING_FLAGS.slice(1),
    ...RUN_FLAGS.map((flag) => ({ ...flag, group: OUTPUT })),
  ],
  example: 'gossamer crawl https://example.org/ --email you@example.org --max-pages 10000',
  goesOnUnread: true,
  run: async (read) => {
    const shown = readShown(read);
    const file = await configOf(read);
    const seeds = seedsOf(read, file);
    const { user, environment } = await userConfig(process.env);
    const settings = { ...user, ...environment, ...file.settings, ...givenSettings(read) };
    if ((settings.email ?? '') === '')
      throw new UsageError(
        `--email is missing: give an address where a site owner reaches you, here or in ${EMAIL_VARIABLE}: ${withEmail(read)}`,
      );
    const crawl = await createCrawl({
      dir: read.values.get('dir')?.[0] ?? file.dir ?? './crawl',
      settings,
      seeds,
      excludeFile: read.values.get('exclude-file')?.[0] ?? file.excludeFile,
      credentials: await credentialsOf(read, say),
      say,
    });
    return watchRun(crawl, shown, { retryParked: false });
  },
};

/** The seeds of the command line, instead of those of the file. */
const seedsOf = ({ words, values }: Read, file: FileConfig): SeedSource => {
  const urls = values.get('url') ?? [];
  if (words.length > 0 || urls.length > 0) return seedsOfWords(words, urls, say);
  if (file.seeds !== null) return file.seeds;
  throw new UsageError(
    'seeds are missing: give a URL, a domain or a seed file, or name them in the --config file' +
      (hasPipedInput() ? '; to read those of standard input, write "-"' : ''),
  );
};

/** The command as it should have been: ready to be copied. */
const withEmail = ({ args }: Read): string => {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const words = ['gossamer', 'crawl', ...args.slice(0, end), '--email', 'you@example.org', ...args.slice(end)];
  return words.map((word) => shellWord(isStoreAddress(word) ? withoutPassword(word) : word)).join(' ');
};

const isStoreAddress = (word: string): boolean => /^(?:--store=)?(?:rediss?|postgres(?:ql)?):/i.test(word);
