/** `gossamer verify`: do the parts of a crawl agree, and can what is damaged be put right? */

import { verifyCrawl, type Found, type VerifyProgress, type VerifyReport } from '../../care/verify.ts';
import { shortName } from '../../folder/gathering.ts';
import { plural, writeBytes, writeCount } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Command } from '../command.ts';
import { print, printObject } from '../listing.ts';
import { createQuietProgress } from '../quiet-progress.ts';
import { bold, createTerminal, red } from '../terminal.ts';
import { crawlDirsOf } from './dir.ts';

/**
 * SQLite checks itself in one step that tells nothing of its progress: 3 s for 256 MiB. From this size on it is said
 * before.
 */

export const verifyCommand: Command = {
  name: 'verify',
  usage: 'verify <dir>... [--all] [--repair [--lost MEMBER]] [--json]',
  says: 'Check that the parts of a stopped crawl agree: pages, archive, links, counters. Exit code 0: no damage; 1: damage, named line by line. Of a crawl with several members, give the directories of all: those that are not given are named, and what they settled is not looked at.',
  flags: [
    { name: 'all', says: 'a member whose directory is not given is damage' },
    { name: 'repair', says: 'put back into waiting what must be fetched again, and correct what can be' },
    {
      name: 'lost',
      value: 'MEMBER',
      repeatable: true,
      says: 'with --repair: the directory of this member is gone for good, and what was lost with it is fetched again',
    },
    { name: 'json', says: 'print one JSON object' },
  ],
  example: 'gossamer verify ./crawl --repair && gossamer resume ./crawl',
  run: async (read) => {
    const dirs = crawlDirsOf(read);
    const isJson = read.switches.has('json');
    const repair = read.switches.has('repair');
    const lost = read.values.get('lost') ?? [];
    if (lost.length > 0 && !repair) throw new UsageError('--lost puts pages back into waiting: give --repair, too');
    const shown = showProgress(isJson);
    const report = await verifyCrawl({ dirs, repair, lost, all: read.switches.has('all'), onProgress: shown.show });
    shown.release();
    const isSound = (report.after ?? report.found).count === 0;
    await (isJson ? printObject(objectOf(dirs, report)) : print(linesOf(dirs, report, repair).join('\n')));
    return isSound ? 0 : 1;
  },
};

const LONG_BYTES = 128 * 1024 ** 2;

const showProgress = (isJson: boolean): { show: (progress: VerifyProgress) => void; release: () => void } => {
  const terminal = createTerminal();
  const { show, release } = createQuietProgress(terminal, terminal.isLive && !isJson);
  return {
    release,
    show: (progress) => show(() => lineOf(progress), progress.phase === 'store' && progress.total >= LONG_BYTES),
  };
};

const lineOf = ({ phase, done, total, unit }: VerifyProgress): string => {
  const write = (n: number): string => (unit === 'bytes' ? writeBytes(n) : plural(n, 'link'));
  if (phase === 'store') return `checking the store (${write(total)})`;
  if (phase === 'repair') return `repairing: ${write(done)} counted`;
  return `checking ${phase === 'links' ? 'the links' : 'the archive'}: ${write(done)} of ${write(total)}${total > 0 ? ` (${Math.floor((100 * done) / total)} %)` : ''}`;
};

const linesOf = (dirs: readonly string[], report: VerifyReport, asked: boolean): string[] => {
  const { found, repaired, after, notGiven } = report;
  const left = after ?? found;
  return [
    ...damageLines(found),
    ...(repaired ? ['repaired:', ...repaired.map((text) => `  ${visible(text)}`)] : []),
    ...(after ? damageLines(after) : []),
    ...left.left.map((text) => `left by a kill: ${visible(text)}; a resume clears it`),
    ...(asked && repaired === null && found.count > 0 ? ['nothing was changed: not all of this can be repaired'] : []),
    ...left.advice.map((text) => `what to do: ${visible(text)}`),
    ...notGiven.map(
      ({ member, where, settled }) =>
        `not looked at: ${plural(settled, 'link')} settled by the member ${shortName(member)} (${visible(where)}): give its directory, too`,
    ),
    bold(summaryOf(report)),
    ...nextStep(dirs, report, asked),
  ];
};

const damageLines = ({ named, count }: Found): string[] => [
  ...named.map(({ says }) => `${red('damage')}: ${visible(says)}`),
  ...(count > named.length ? [`${red('damage')}: and ${writeCount(count - named.length)} more`] : []),
];

const summaryOf = ({ figures, found, after, notGiven }: VerifyReport): string => {
  const { pages, records, files, archiveBytes, links, sites } = figures;
  const left = (after ?? found).count;
  const verdict =
    left > 0 ? `${writeCount(left)} damaged` : after ? `no damage left of ${writeCount(found.count)}` : 'no damage';
  return (
    `verified ${plural(pages, 'page')}, ${plural(records, 'record')} in ${plural(files, 'file')} (${writeBytes(archiveBytes)}), ` +
    `${plural(links, 'link')} on ${plural(sites, 'site')}: ${verdict}${unseenWords(notGiven)}`
  );
};

const unseenWords = (notGiven: VerifyReport['notGiven']): string => {
  if (notGiven.length === 0) return '';
  const links = notGiven.reduce((sum, { settled }) => sum + settled, 0);
  return `; ${plural(links, 'link')} of ${plural(notGiven.length, 'member that was not given', 'members that were not given')} not looked at`;
};

const nextStep = (dirs: readonly string[], { found, after }: VerifyReport, asked: boolean): string[] => {
  if (after && after.count === 0) return [`fetch again what was lost: gossamer resume ${dirs[0]}`];
  return found.count > 0 && !asked && found.advice.length === 0
    ? [`put it right: gossamer verify ${dirs.join(' ')} --repair`]
    : [];
};

const objectOf = (dirs: readonly string[], { found, figures, repaired, after, notGiven }: VerifyReport): object => {
  const last = after ?? found;
  return {
    dir: dirs[0],
    dirs,
    sound: last.count === 0,
    ...figures,
    damageCount: found.count,
    damageByKind: found.byKind,
    damage: found.named,
    left: last.left,
    advice: last.advice,
    notGiven,
    repaired,
    damageAfterRepair: after && { count: after.count, damage: after.named },
  };
};
