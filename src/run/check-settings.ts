/** Whether settings can be: each by itself is checked where it is read, here is what they say together. */

import { readConnectTo } from '../fetch/connect-to.ts';
import { isNameServer } from '../fetch/lookup.ts';
import { checkDescriptors } from '../folder/ceilings.ts';
import { checkStoreCa } from '../folder/store-place.ts';
import { checkLogFile } from '../folder/log-path.ts';
import { checkHooks } from '../hooks/check.ts';
import { firstNotText } from '../model/body-types.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { takesFrontierFiles } from '../store/address.ts';
import { readPattern } from '../url/link-patterns.ts';
import { canonicalRules } from '../url/site-rules.ts';
import { checkUserAgent } from './user-agent.ts';

/** All settings as they are kept: what a person wrote for their own folder holds in every other. */
export const checked = async (given: Settings): Promise<Settings> => {
  const settings = checkedOfCrawl(given);
  for (const text of settings.connectTo) {
    if (!readConnectTo(text))
      throw new UsageError(
        `--connect-to "${text}" is not understood: write HOST:PORT:ADDR:PORT, such as *:80:127.0.0.1:8080`,
      );
  }
  for (const text of settings.nameServers) {
    if (!isNameServer(text))
      throw new UsageError(
        `--name-server "${text}" is not understood: write the address of one, such as 127.0.0.1 or [::1]:5353`,
      );
  }
  if (settings.frontier === 'files' && !takesFrontierFiles(settings.store))
    throw new UsageError('--frontier files is for a crawl in Redis: give its address by --store, or omit it');
  checkDescriptors(settings);
  const storeCa = checkStoreCa(settings.storeCa, settings.store);
  const own = { logFile: checkLogFile(settings.logFile), hooks: await checkHooks(settings.hooks), storeCa };
  return { ...settings, ...own };
};

/** Checks the settings of the crawl alone, which can change while it runs. Throws a UsageError. */
export const checkedOfCrawl = (settings: Settings): Settings => {
  for (const flag of ['include', 'exclude'] as const) {
    for (const text of settings[flag]) {
      const read = readPattern(text);
      if ('why' in read) throw new UsageError(`--${flag} "${text}" ${read.why}`);
    }
  }
  if (settings.keepLinks && settings.keep === 'none')
    throw new UsageError(
      '--keep-links puts the links of pages into the archive, and --keep none has none: choose --keep text or --keep all, or omit it',
    );
  checkUserAgent(settings);
  const unkept = settings.keep === 'all' ? null : firstNotText(settings.types);
  if (unkept !== null)
    throw new UsageError(
      `--types ${unkept} asks for bodies that are not text, and --keep ${settings.keep} archives none of them: choose --keep all, or omit ${unkept}`,
    );
  const sites = canonicalRules(settings.sites);
  if ('why' in sites) throw new UsageError(`sites ${sites.why}`);
  return { ...settings, sites };
};
