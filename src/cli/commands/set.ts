/** `gossamer set`: changes settings of a crawl for all who take part in it, while it runs or not. */

import { visible } from '../../lib/visible.ts';
import { plural } from '../../lib/units.ts';
import { ofCrawl } from '../../model/crawl-change.ts';
import { UsageError } from '../../model/read-settings.ts';
import { CRAWL_SETTINGS, SETTINGS } from '../../model/setting-table.ts';
import type { Settings } from '../../model/settings.ts';
import { writeSetting, type Written } from '../../model/write-setting.ts';
import { setCrawl, type Changed } from '../../run/set.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf } from '../config-file.ts';
import type { Flag } from '../flags.ts';
import { printForeign, printObject } from '../listing.ts';
import { givenSettings, SETTING_FLAGS } from '../setting-flags.ts';
import { writeSiteRules, type WrittenRules } from '../site-rules-file.ts';

const FLAGS: readonly Flag[] = [
  { ...CONFIG_FLAG, says: 'settings of the crawl from a file; what else is in it is left alone' },
  { name: 'exclude-file', value: 'FILE', says: 'sites never to visit, instead of those given before' },
  { name: 'json', says: 'print one JSON object' },
];

const WHICH: readonly string[] = [SETTINGS.store.flag, SETTINGS.name.flag];
const OFTEN: readonly string[] = [SETTINGS.delayMs.flag, SETTINGS.exclude.flag, SETTINGS.maxPages.flag, ...WHICH];

export const setCommand: Command = {
  name: 'set',
  usage: 'set <dir> [flags]',
  says:
    'Change settings of a crawl for all its members, while it runs or not: every setting that is the crawl\'s ("gossamer help settings" says which). ' +
    'Members that run take it within two seconds, for the visits that begin then. A crawl in Redis or PostgreSQL can be named by --store and --name instead of <dir>.',
  flags: [...FLAGS, ...SETTING_FLAGS.map((flag) => ({ ...flag, rare: !OFTEN.includes(flag.name) }))],
  example: 'gossamer set ./crawl --delay 10s --exclude example.org',
  run: async (read) => {
    const [dir = null, ...rest] = read.words;
    if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many`);
    const file = await configOf(read);
    const changed = await setCrawl({
      dir,
      settings: { ...ofCrawl(file.settings), ...givenSettings(read) },
      excludeFile: read.values.get('exclude-file')?.[0] ?? file.excludeFile,
      say: (text) => console.error(visible(text)),
    });
    if (read.switches.has('json')) await printObject(objectOf(changed));
    else await printForeign(`${linesOf(changed).join('\n')}\n`);
    return 0;
  },
};

type Value = Written | WrittenRules | undefined;

const writtenOf = (name: keyof Settings, settings: Readonly<Partial<Settings>>): Value => {
  if (settings[name] === undefined) return undefined;
  return name === 'sites' ? writeSiteRules(settings.sites!) : writeSetting(name, settings[name]);
};

const namesIn = ({ now }: Changed): (keyof Settings)[] => CRAWL_SETTINGS.filter((name) => name in now);

const objectOf = (changed: Changed): object => ({
  change: changed.number,
  isNew: changed.isNew,
  settings: Object.fromEntries(
    namesIn(changed).map((name) => [
      SETTINGS[name].flag,
      { was: writtenOf(name, changed.was) ?? null, now: writtenOf(name, changed.now) },
    ]),
  ),
  excluded: changed.excluded,
});

const linesOf = (changed: Changed): string[] => {
  const { number, isNew, excluded } = changed;
  if (!isNew) return [`nothing differs from what is in force; the last change is number ${number}`];
  const shown = (value: Value): string => {
    if (value === null || value === undefined) return 'none';
    return typeof value === 'string' ? value || 'none' : JSON.stringify(value);
  };
  return [
    `change ${number}`,
    ...namesIn(changed).map(
      (name) =>
        `  ${SETTINGS[name].flag}: ${shown(writtenOf(name, changed.was))} -> ${shown(writtenOf(name, changed.now))}`,
    ),
    ...(excluded ? [`  exclude list: ${plural(excluded.was, 'site')} -> ${plural(excluded.now, 'site')}`] : []),
  ];
};
