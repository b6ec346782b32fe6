/** `gossamer explain`: why a URL was not crawled, or when it will be. */

import { isSideQueue, nameOfQueue } from '../../url/side-queue.ts';
import { explain, type Explanation } from '../../results/explain.ts';
import { lockOwner } from '../../folder/lock.ts';
import { notGiven, rosterOf } from '../../folder/roster.ts';
import { TRIES_MAX } from '../../contract/store.ts';
import type { SiteView } from '../../contract/views.ts';
import { plural, writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import type { Command } from '../command.ts';
import { wrap } from '../help.ts';
import { print, printObject } from '../listing.ts';
import { pageObject, siteObject, timeOf } from '../objects.ts';
import { bold, dim, fitLine, outputColumns } from '../terminal.ts';
import { dirsAndUrlOf, withGathering } from './dir.ts';

export const explainCommand: Command = {
  name: 'explain',
  usage: 'explain <dir>... <url> [--json]',
  says: 'Say why a URL was not crawled, or when it will be: the scope rule, the line of robots.txt, the budget, or the failure and its next try. Of a crawl with several members, give the directories of all. The exit code is 1 when the URL is not known to the crawl.',
  flags: [{ name: 'json', says: 'print one JSON object, with the name of the reason' }],
  example: 'gossamer explain ./crawl https://example.org/private/',
  run: async (read) => {
    const { dirs, url } = dirsAndUrlOf(read, 'explain');
    return withGathering(dirs, async ({ crawl, members, identity: { settings } }) => {
      const explanation = await explain({
        dir: dirs[0]!,
        dirs,
        url,
        settings,
        crawl,
        now: Date.now(),
        running: dirs.some((dir) => lockOwner(dir) !== 0),
        others: async () => notGiven(await rosterOf(crawl, members), members),
      });
      await (read.switches.has('json') ? printObject(objectOf(explanation)) : print(textOf(explanation)));
      return explanation.state === 'unknown' ? 1 : 0;
    });
  },
};

const objectOf = ({ view, robots, scope, visitAt, ...rest }: Explanation): Record<string, unknown> => ({
  ...rest,
  scope,
  robots: robots && { ...robots, fetchedAt: timeOf(robots.fetchedAt) },
  visitAt: timeOf(visitAt),
  page: view?.page ? pageObject(view.page) : null,
  queue: view?.open
    ? { ahead: view.open.ahead, tries: view.open.tries, depth: view.open.link.depth, via: view.open.link.via }
    : null,
  site: view?.site ? siteObject(view.site) : null,
});

const textOf = (explanation: Explanation): string => {
  const { url, answer, notes, advice } = explanation;
  const rows: [string, string][] = [...factsOf(explanation), ...notes.map((note): [string, string] => ['note', note])];
  return [
    bold(visible(url)),
    ...wrapped(visible(answer), 2),
    '',
    ...rows.map(([name, text]) =>
      wrapped(visible(text), MARGIN)
        .map(fitLine)
        .join('\n')
        .replace(' '.repeat(MARGIN), `  ${dim(name.padEnd(MARGIN - 2))}`),
    ),
    ...advice.map((command, i) => `  ${dim((i === 0 ? 'try' : '').padEnd(MARGIN - 2))}${visible(command)}`),
  ].join('\n');
};

const factsOf = ({ reason, state, view, robots }: Explanation): [string, string][] => {
  const rows: [string, string][] = [['reason', reason === state ? reason : `${reason} (${state})`]];
  const page = view?.page;
  const from = page ?? view?.open?.link;
  if (from) rows.push(['found on', `${from.via || 'a seed'}, at depth ${from.depth}`]);
  if (page && page.tries > 1) rows.push(['tries', String(page.tries)]);
  if (view?.open && view.open.tries > 0) rows.push(['tries', `${view.open.tries} of ${TRIES_MAX}`]);
  if (robots) rows.push(['robots', `${robots.allowed ? 'allows it' : 'forbids it'}: ${robots.rule}`]);
  if (robots)
    rows.push([
      '',
      `${robots.origin}/robots.txt, read ${ageOf(robots.fetchedAt)} ago${robots.stale ? '; stale, to be asked for again' : ''}`,
    ]);
  if (view?.site) rows.push([isSideQueue(view.site.site) ? 'origin' : 'site', siteWords(view.site)]);
  return rows;
};

const ageOf = (at: number): string => writeDuration(Math.max(0, Date.now() - at));

const siteWords = ({ site, state, pages, waiting, delayMs, failures }: SiteView): string =>
  [
    `${nameOfQueue(site)}, ${state}`,
    ...(isSideQueue(site) ? [] : [plural(pages, 'page')]),
    `${plural(waiting, 'link')} in its queue`,
    ...(delayMs > 0 ? [`a delay of ${writeDuration(delayMs)}`] : []),
    ...(failures > 0 ? [`${plural(failures, 'failure')} in a row`] : []),
  ].join(', ');

const MARGIN = 12;
/** Lines of text are easier to read when they are not much longer than this. */
const COLUMNS_MAX = 100;

const wrapped = (text: string, margin: number): string[] =>
  wrap(text, Math.min(outputColumns(), COLUMNS_MAX) - margin).map((line) => ' '.repeat(margin) + line);
