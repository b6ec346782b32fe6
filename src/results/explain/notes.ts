/** What else is worth knowing about a URL, and which command helps. */

import { TRIES_MAX } from '../../contract/store.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { plural, writeCount, writeDuration } from '../../lib/units.ts';
import { canonicalize } from '../../url/canonical.ts';
import { robotsIgnoredFor, valueFor } from '../../url/site-rules.ts';
import { siteOf } from '../../url/site.ts';
import { whereIs } from '../../folder/roster.ts';
import { causeOf, timeOf } from './answer.ts';
import type { Found } from './found.ts';

export const notesOf = async (found: Found): Promise<string[]> => {
  if (found.view.page) return settledNotes(found);
  if (found.view.open) return openNotes(found);
  return found.view.state === 'settled' ? elsewhereNotes(found) : unknownNotes(found);
};

/** Which members may have settled it; the store knows only that somebody has. */
const elsewhereNotes = async ({ others }: Found): Promise<string[]> =>
  ((await others?.()) ?? []).map(
    (member) => `${whereIs(member)} settled ${plural(member.settled, 'link')}, and its directory was not given`,
  );

const settledNotes = async (found: Found): Promise<string[]> => {
  const { robots, scope, reason } = found;
  const notes: string[] = [];
  if (await isBareSeed(found))
    notes.push('a seed without a scheme is tried once over https; it was then tried over http');
  if (reason === 'robots-denied' && robots?.allowed) {
    notes.push(
      `as read on ${timeOf(robots.fetchedAt)}, robots.txt allows it (${robots.rule}); but a settled link is not visited again`,
    );
  }
  if (scope && scope.refusal !== reason)
    notes.push(`by the settings now in force it would not be taken: ${scope.says}`);
  return notes;
};

/** It failed before its tries were used up, and its other address is known: that is what becomes of a bare domain. */
const isBareSeed = async ({ view: { page }, reason, address, crawl }: Found): Promise<boolean> =>
  page !== null &&
  reason.startsWith('failed-') &&
  page.via === '' &&
  page.tries < TRIES_MAX &&
  address.url.startsWith('https:') &&
  (await crawl.link(otherScheme(address.url), siteOf(address.host))).state !== 'unknown';

const openNotes = ({ view, lastFailure, trouble, reason, settings, address }: Found): string[] => {
  const notes: string[] = [];
  const site = view.site!;
  if (trouble) {
    notes.push(
      `${trouble.origin} was last asked on ${timeOf(trouble.fetchedAt)}: ${causeOf(trouble)}; until it answers, no page there is requested, and other origins of its site go on`,
    );
  } else if (lastFailure) {
    notes.push(
      `the last failure on record: ${lastFailure.url}, ${lastFailure.outcome}${lastFailure.status === null ? '' : ` ${lastFailure.status}`}, on ${timeOf(lastFailure.time)}`,
    );
  }
  const own = valueFor(settings.sites, address.host, 'own');
  if (reason === 'waiting' && !own?.value && site.crawlDelayMs >= site.delayMs && site.crawlDelayMs > 0)
    notes.push('its Crawl-delay sets the pace');
  return [...notes, ...ruleNotes(settings, address.host)];
};

/** What rules per site say of a host. */
const ruleNotes = ({ sites }: Found['settings'], host: string): string[] => {
  const delay = valueFor(sites, host, 'delayMs');
  const own = valueFor(sites, host, 'own');
  const ignored = robotsIgnoredFor(sites, host);
  return [
    ...(delay ? [`the rule for ${delay.by} sets its delay to ${writeDuration(delay.value)}, instead of --delay`] : []),
    ...(own?.value
      ? [`the rule for ${own.by} says that it is your own: neither a Crawl-delay nor its speed lengthens its delay`]
      : []),
    ...(ignored ? [`the rule for ${ignored.by} disregards its robots.txt`] : []),
  ];
};

const unknownNotes = async ({ view, settings, scope, crawl }: Found): Promise<string[]> => {
  const notes: string[] = [];
  const { site, lookedAt } = view;
  if (!site) notes.push('nothing of its site is known either');
  else if (lookedAt < site.waiting)
    notes.push(
      `the queue of its site was searched for ${writeCount(lookedAt)} of ${plural(site.waiting, 'link')} only`,
    );
  if (scope?.widen != null)
    notes.push('a resume with a wider scope reads archived pages again, and takes it where one of them links to it');
  if (scope) return notes;
  if (site && settings.maxWaitingPerSite != null && site.waiting >= settings.maxWaitingPerSite) {
    notes.push(
      `its site has ${plural(site.waiting, 'link')} waiting, all that --max-waiting-per-site allows: links found now are forgotten, and may come again`,
    );
  }
  if (settings.maxDepth !== null)
    notes.push(`a link more than ${plural(settings.maxDepth, 'step')} from a seed is not taken (--max-depth)`);
  if (settings.hooks) notes.push(`accept of ${settings.hooks} may have refused it`);
  if (site?.state === 'held' && site.waiting > 0) {
    notes.push(
      `its site is held, so ${plural(site.waiting, 'of its links is', 'of its links are')} not visited for now, and one of those pages may link to it`,
    );
  }
  const { waiting } = await crawl.census();
  if (waiting > 0)
    notes.push(
      `${plural(waiting, 'link still waits', 'links still wait')} in this crawl, and one of those pages may link to it`,
    );
  return notes;
};

const explainCommand = (...words: readonly string[]): string => `gossamer explain ${words.map(shellWord).join(' ')}`;

const givenDirs = ({ dir, dirs = [dir] }: Pick<Found, 'dir' | 'dirs'>): readonly string[] => dirs;

export const adviceOf = async (found: Found): Promise<string[]> => {
  const { dir, view, reason, running } = found;
  const resume = `gossamer resume ${shellWord(dir)}`;
  if (view.page && reason === 'redirected') return [explainCommand(...givenDirs(found), view.page.redirect)];
  if (view.page) return reason.startsWith('failed-') ? alike(found) : []; // a bare domain was then tried over http
  const { widen = null } = found.scope ?? {};
  if (widen !== null) return [`${resume} ${widen}`];
  if (reason === 'settled-elsewhere') return [explainCommand(...givenDirs(found), 'DIRECTORY', found.address.url)];
  if (!view.open) return alike(found);
  switch (reason) {
    case 'parked':
      return [`${resume} --retry-parked`];
    case 'held':
      // The budget of a rule is raised where it stands.
      return valueFor(found.settings.sites, view.site!.site, 'maxPages')
        ? [`${resume} --config FILE`]
        : [`${resume} --max-pages-per-site ${2 * Math.max(view.site!.pages, 1)}`];
    case 'max-pages':
      return [`${resume} --max-pages ${2 * found.settings.maxPages!}`];
    case 'waiting':
    case 'in-trouble':
    case 'under-visit':
      return running ? [] : [resume];
    default:
      return []; // nothing brings it back
  }
};

const otherScheme = (url: string): string =>
  url.startsWith('https:') ? url.replace('https:', 'http:') : url.replace('http:', 'https:');

/**
 * Addresses that are easily taken for this one, and that the crawl knows: the other scheme, a slash at the end, www in
 * front.
 */
const alike = async ({ address: { url, host }, crawl, ...found }: Found): Promise<string[]> => {
  const both = [url, otherScheme(url)];
  const slashed = both.map((text) => (text.endsWith('/') ? text.slice(0, -1) : `${text}/`));
  const named = both.map((text) =>
    host.startsWith('www.') ? text.replace('//www.', '//') : text.replace('//', '//www.'),
  );
  const candidates = [...both, ...slashed, ...named]
    .map((text) => canonicalize(text))
    .flatMap((address) => (typeof address === 'string' ? [] : [address.url]));
  const others = [...new Set(candidates)].filter((candidate) => candidate !== url);
  const views = await Promise.all(others.map((other) => crawl.link(other, siteOf(host))));
  return others
    .filter((_, i) => views[i]!.state !== 'unknown')
    .map((other) => explainCommand(...givenDirs(found), other));
};
