/** `gossamer audit`: was every request polite and allowed, judged from the ledger and the archived robots.txt? */

import { auditCrawl, type AuditProgress, type AuditReport } from '../../care/audit.ts';
import { UNCHECKED, uncheckedTotal, type UncheckedReason } from '../../care/audit/findings.ts';
import { letterOf } from '../../care/audit/letter.ts';
import { readIdentity } from '../../folder/folder.ts';
import { othersOf } from '../../folder/roster.ts';
import { plural, writeBytes, writeCount } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { Command } from '../command.ts';
import { print, printObject } from '../listing.ts';
import { bold, createTerminal, red } from '../terminal.ts';
import { crawlDirsOf } from './dir.ts';

/** An audit that is over sooner shows no progress. */
const QUIET_MS = 2_000;
/** Without a terminal, a line this often; on one, the line is drawn again. */
const LINE_MS = 5_000;
const DRAW_MS = 200;

export const auditCommand: Command = {
  name: 'audit',
  usage: 'audit <dir>... [--site SITE] [--json]',
  says: 'Check that every request was polite and allowed: every gap, every overlap, every robots decision, computed again from the ledger and the archived robots.txt. Exit code 0: no violation; 1: violations, named line by line, or a ledger that cannot be read. For a crawl with several members, give the directories of all: what only a member that is not given can prove is counted as not to be judged, and is no violation.',
  flags: [
    { name: 'site', value: 'SITE', says: 'one site only: a text that can be sent to its owner as it is' },
    { name: 'json', says: 'print one JSON object' },
  ],
  example: 'gossamer audit ./crawl --site example.org',
  run: async ({ words, switches, values }) => {
    const dirs = crawlDirsOf({ words });
    const site = siteGiven(values.get('site')?.[0]);
    const isJson = switches.has('json');
    const shown = showProgress(isJson);
    const report = await auditCrawl({ dirs, site, others: await othersOf(dirs), onProgress: shown.show });
    shown.release();
    await (isJson ? printObject(objectOf(dirs, report)) : print(textOf(dirs, report).join('\n')));
    return report.findings.count === 0 && report.damage.length === 0 ? 0 : 1;
  },
};

/** The site that a domain, a host or a URL belongs to. */
const siteGiven = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  const address = canonicalize(/^https?:\/\//i.test(text) ? text : `http://${text}`);
  if (typeof address === 'string')
    throw new UsageError(`--site "${text}" is not understood: write a domain, such as example.org`);
  return siteOf(address.host);
};

const showProgress = (isJson: boolean): { show: (progress: AuditProgress) => void; release: () => void } => {
  const terminal = createTerminal();
  const isLive = terminal.isLive && !isJson;
  let lastAt = performance.now() + QUIET_MS - (isLive ? DRAW_MS : LINE_MS);
  return {
    show: (progress) => {
      const now = performance.now();
      if (now - lastAt < (isLive ? DRAW_MS : LINE_MS)) return;
      lastAt = now;
      if (isLive) terminal.draw([lineOf(progress)]);
      else terminal.warn(lineOf(progress));
    },
    release: () => {
      terminal.draw([]);
      terminal.release();
    },
  };
};

const lineOf = ({ phase, done, total }: AuditProgress): string => {
  switch (phase) {
    case 'ledger':
      return `reading the ledger: ${writeCount(done)} of ${plural(total, 'file')}`;
    case 'archive':
      return `looking for robots.txt in the archive: ${writeBytes(done)} of ${writeBytes(total)}${total > 0 ? ` (${Math.floor((100 * done) / total)} %)` : ''}`;
    case 'judging':
      return `judging: ${plural(done, 'request')}`;
    default:
      return phase satisfies never;
  }
};

const textOf = (dirs: readonly string[], report: AuditReport): string[] => {
  const { tally, findings, damage, remarks, requests, sites, own, robotsIgnored } = report;
  const unjudged = uncheckedTotal(findings);
  if (tally) return letterOf({ ...report, tally }, readIdentity(dirs[0]!).settings).map(visible);
  return [
    ...findings.violations.map(({ kind, says }) => `${red('violation')} ${kind}: ${visible(says)}`),
    ...(findings.count > findings.violations.length
      ? [`${red('violation')}: and ${writeCount(findings.count - findings.violations.length)} more`]
      : []),
    ...damage.map((says) => `${red('damage')}: ${visible(says)}`),
    ...(Object.entries(findings.unchecked) as [UncheckedReason, number][]).map(
      ([reason, n]) => `cannot be judged: the robots decision of ${plural(n, 'request')}: ${UNCHECKED[reason]}`,
    ),
    ...remarks.map((text) => `note: ${visible(text)}`),
    ...(own > 0
      ? [`${plural(own, 'request')} to own sites, ${writeCount(robotsIgnored)} of them with robots.txt disregarded`]
      : []),
    bold(
      `${plural(requests, 'request')}, ${plural(sites, 'site')}, ${plural(findings.count, 'violation')}${unjudged > 0 ? `, ${writeCount(unjudged)} cannot be judged` : ''}`,
    ),
  ];
};

const objectOf = (dirs: readonly string[], { findings, tally, ...report }: AuditReport): object => ({
  dirs,
  ...report,
  violationCount: findings.count,
  violationsByKind: findings.byKind,
  violations: findings.violations,
  unchecked: findings.unchecked,
  ...(tally
    ? {
        site: {
          ...tally,
          userAgents: [...tally.userAgents],
          delaysMs: [...tally.delaysMs],
          shortestGapMs: tally.gaps > 0 ? tally.shortestGapMs : null,
        },
      }
    : {}),
});
