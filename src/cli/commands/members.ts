/** `gossamer members`: who takes part in a crawl, when each was last seen, and what it settled. */

import { gather, shortName } from '../../folder/gathering.ts';
import { identityIn } from '../../folder/notes.ts';
import { rosterOf, type RosterEntry } from '../../folder/roster.ts';
import { crawlNameOf, newStore } from '../../folder/store-place.ts';
import { cutToWidth, padToWidth, widthOf } from '../../lib/text-width.ts';
import { plural, writeCount, writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import { SETTINGS } from '../../model/setting-table.ts';
import { isShared } from '../../store/address.ts';
import { openStoredCrawl } from '../../store/open.ts';
import { SHARDS } from '../../url/shard.ts';
import type { Command } from '../command.ts';
import type { Read } from '../flags.ts';
import { print, printObject } from '../listing.ts';
import { timeOf } from '../objects.ts';
import { bold, dim, fitLine, outputColumns } from '../terminal.ts';

export const membersCommand: Command = {
  name: 'members',
  usage: 'members [<dir>...] [--store WHERE --name NAME] [--json]',
  says: 'List who takes part in a crawl: each member with its host and directory, whether it lives or when it was last seen, what it settled, and whether its directory is at hand. Give a directory of the crawl, or where its store is.',
  flags: [
    { name: SETTINGS.store.flag, value: 'WHERE', says: 'the store of the crawl, where no directory is given' },
    { name: SETTINGS.name.flag, value: 'NAME', says: 'its name there' },
    { name: 'json', says: 'print one JSON object' },
  ],
  example: 'gossamer members ./crawl',
  run: async (read) => {
    const roster = read.words.length > 0 ? await fromDirs(read) : await fromStore(read);
    await (read.switches.has('json') ? printObject(objectOf(roster)) : print(linesOf(roster).join('\n')));
    return 0;
  },
};

/** The members of a crawl at one moment of its store. */
interface Roster {
  readonly now: number;
  readonly members: readonly RosterEntry[];
}

const flagValue = ({ values }: Read, name: string): string | undefined => values.get(name)?.[0];

const fromDirs = async (read: Read): Promise<Roster> => {
  const given = [SETTINGS.store.flag, SETTINGS.name.flag].find((name) => flagValue(read, name) !== undefined);
  if (given !== undefined) throw new UsageError(`a directory knows where its crawl is: omit --${given}`);
  const { crawl, members, close } = await gather(read.words);
  try {
    return { now: (await crawl.census()).now, members: await rosterOf(crawl, members) };
  } finally {
    await close();
  }
};

/** Whoever has no directory of the crawl looks at its store alone. */
const fromStore = async (read: Read): Promise<Roster> => {
  const url = newStore(flagValue(read, SETTINGS.store.flag));
  const name = flagValue(read, SETTINGS.name.flag);
  if (!isShared(url) || name === undefined)
    throw new UsageError('give a directory of the crawl, such as ./crawl, or its --store and --name');
  const nowhere = { url, crawl: crawlNameOf(name, '.'), member: '', dir: '.', say: () => {} };
  const place = { ...nowhere, shards: SHARDS, frontier: 'store' as const };
  await identityIn(place); // a sentence where there is no such crawl
  const crawl = await openStoredCrawl(place);
  try {
    return { now: (await crawl.census()).now, members: await rosterOf(crawl, []) };
  } finally {
    await crawl.close();
  }
};

const seenWords = ({ seenAt, isLive }: RosterEntry, now: number): string => {
  if (isLive) return 'live';
  return seenAt === 0 ? '-' : `${writeDuration(Math.max(0, Math.round((now - seenAt) / 1_000) * 1_000))} ago`;
};

const COLUMNS: readonly [
  title: string,
  text: (one: RosterEntry, now: number) => string,
  side: 'left' | 'right' | 'cut',
][] = [
  ['member', ({ member }) => shortName(member), 'left'],
  ['host', ({ about }) => about?.host ?? '-', 'left'],
  ['last seen', seenWords, 'left'],
  ['settled', ({ settled }) => writeCount(settled), 'right'],
  ['at hand', ({ atHand }) => (atHand === null ? 'no' : 'yes'), 'left'],
  ['directory', ({ atHand, about }) => atHand ?? about?.dir ?? '-', 'cut'],
];
const GAP = '  ';
/** A path is not cut below this, however narrow the terminal is. */
const PATH_COLUMNS_LEAST = 16;

const linesOf = ({ now, members }: Roster): string[] => {
  const rows = members.map((one) => COLUMNS.map(([, text]) => visible(text(one, now))));
  const titles = COLUMNS.map(([title]) => title);
  const widths = titles.map((title, i) => Math.max(title.length, ...rows.map((texts) => widthOf(texts[i]!))));
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const pathColumns = Math.max(PATH_COLUMNS_LEAST, outputColumns() - others);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => {
        const [, , side] = COLUMNS[i]!;
        if (side === 'cut') return cutToWidth(text, pathColumns, 'start');
        return side === 'left' ? padToWidth(text, widths[i]!) : text.padStart(widths[i]!);
      })
      .join(GAP)
      .trimEnd();
  const missing = members.filter(({ atHand, settled }) => atHand === null && settled > 0);
  const lost = missing.reduce((sum, { settled }) => sum + settled, 0);
  return [
    bold(fitLine(line(titles))),
    ...rows.map((texts) => fitLine(line(texts))),
    dim(
      `${plural(members.length, 'member')}, ${plural(members.filter(({ isLive }) => isLive).length, 'live one')}` +
        (missing.length > 0
          ? `; the ${missing.length === 1 ? 'directory' : 'directories'} of ${missing.length}, with ${plural(lost, 'settled link')}, ${missing.length === 1 ? 'is' : 'are'} not at hand`
          : ''),
    ),
  ];
};

const objectOf = ({ now, members }: Roster): object => ({
  now: timeOf(now),
  members: members.map(({ member, seenAt, isLive, settled, about, atHand }) => ({
    member,
    host: about?.host ?? null,
    dir: atHand ?? about?.dir ?? null,
    process: isLive ? (about?.pid ?? null) : null,
    version: about?.version ?? null,
    startedAt: timeOf(about?.startedAt ?? null),
    seenAt: timeOf(seenAt || null),
    live: isLive,
    settled,
    atHand: atHand !== null,
  })),
});
