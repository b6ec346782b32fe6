/** The sentence that answers why a link was not crawled, or when it will be, or that it was. */

import type { LinkView, OpenLink, SiteView } from '../../contract/views.ts';
import { plural, writeCount, writeDuration } from '../../lib/units.ts';
import { FAILURES, type FailureCause } from '../../model/failure.ts';
import { ANSWERED_OUTCOMES, SCOPE_REFUSALS, UNANSWERED_OUTCOMES } from '../../model/outcome.ts';
import type { PageRow } from '../../model/page.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Settings } from '../../model/settings.ts';
import { valueFor } from '../../url/site-rules.ts';
import type { Found } from './found.ts';
import { OPEN_REASONS } from './reasons.ts';

const FAILED = 'failed-';

export const answerOf = (found: Found): string => {
  const { view } = found;
  if (view.page) return settledAnswer(view.page, found);
  if (view.open && view.site) return openAnswer(found, view.open, view.site);
  if (view.state === 'settled')
    return 'It was settled by another member of this crawl: what became of it is in the directory of that one.';
  if (found.scope) return `It is not known to this crawl, and would not be taken: ${found.scope.says}.`;
  return `It is not known to this crawl: ${OPEN_REASONS.unknown}.`;
};

const settledAnswer = (page: PageRow, { origin, scope }: Found): string => {
  const { outcome, status, tries } = page;
  const on = `on ${timeOf(page.time)}`;
  if (outcome.startsWith(FAILED)) {
    const said = page.detail ? ` (${page.detail})` : '';
    return `It was given up ${on} after ${triesOf(tries)}: ${FAILURES[outcome.slice(FAILED.length) as FailureCause]}${said}.`;
  }
  switch (outcome) {
    case 'fetched':
      return `It was crawled ${on}: the server answered ${status}.`;
    case 'redirected':
      return `It was visited ${on}: the server answered ${status} and leads to ${page.redirect}, which is a link of its own.`;
    case 'body-skipped':
      return `It was visited ${on}, but --types does not name what came (${page.content_type || 'no type'}): only its head was kept.`;
    case 'client-error':
    case 'odd-status':
      return `It was visited ${on}, but the server answered ${status}.`;
    case 'server-error':
      return `It was visited ${on} and given up after ${triesOf(tries)}: the server answered ${status}.`;
    case 'robots-denied':
      return `It was not crawled, because the robots.txt of ${origin} forbids it (${page.robots}).`;
    default: {
      const says: string | undefined = { ...ANSWERED_OUTCOMES, ...UNANSWERED_OUTCOMES, ...SCOPE_REFUSALS }[
        outcome as keyof typeof SCOPE_REFUSALS
      ];
      if (outcome in ANSWERED_OUTCOMES) return `It was visited ${on}: it ${says}.`;
      // The rule that refused it then may still be there, and then it can be named.
      return `It was not crawled: ${scope?.refusal === outcome ? scope.says : (says ?? 'no more is known')}. It was settled so ${on}.`;
    }
  }
};

const openAnswer = (found: Found, open: OpenLink, site: SiteView): string => {
  const { reason, settings, now, running } = found;
  const waits = running ? 'It waits:' : 'It waits, and the crawl is not running. When it is resumed,';
  switch (reason) {
    case 'under-visit':
      return running
        ? `It is being visited now, for the ${nth(open.tries)} time.`
        : 'It was being visited when the crawl ended: a resume visits it again.';
    case 'parked':
      return parkedAnswer(found);
    case 'held':
      return `It is held: its site ${site.site} has ${plural(site.pages, 'page')}, and ${budgetOf(site, settings)}.`;
    case 'max-pages':
      return `It waits, but the crawl has all the pages it may have: --max-pages is ${writeCount(settings.maxPages ?? 0)}.`;
    case 'in-trouble':
      return found.trouble
        ? `${waits} ${found.origin}, which failed ${inARow(found.trouble.failures)}, is asked again ${inTime(found.trouble.expiresAt, found)}; at ${plural(settings.parkAfter, 'failure')} it is parked.`
        : `${waits} its site ${site.site}, where pages failed ${inARow(site.failures)}, is visited again ${inTime(site.dueAt, found)}. ${placeOf(open)}.`;
    case 'waiting':
      return (
        `${waits} its site ${site.site} may be visited ${inTime(site.dueAt, found)}, and then every ${writeDuration(delayOf(site, found))}. ` +
        `${placeOf(open)}${open.ahead > 0 ? `; its turn comes ${turnOf(visitAtOf(open, site, found)! - now, running)}` : ''}.`
      );
    case 'robots-denied':
    case 'robots-too-large':
      return `${hopeless(found.view.state)}, because the robots.txt of ${found.origin} forbids it (${found.robots?.rule}).`;
    default:
      return `${hopeless(found.view.state)}: ${found.scope?.says ?? reason}.`;
  }
};

const parkedAnswer = ({ origin, trouble, settings }: Found): string => {
  if (!trouble) return `It is parked: ${OPEN_REASONS.parked}.`;
  if (trouble.rules === ('no-name' satisfies FailureCause))
    return `It is parked: ${origin} cannot be asked, because ${FAILURES['no-name']}.`;
  return `It is parked: ${origin} failed ${inARow(trouble.failures)}, and --park-after is ${settings.parkAfter}. The last time, ${causeOf(trouble)}.`;
};

/** Why an origin is in trouble; completes "the last time, ...". */
export const causeOf = ({ rules: cause }: RobotsRecord): string =>
  cause in FAILURES ? FAILURES[cause as FailureCause] : `it answered ${cause}`;

const hopeless = (state: LinkView['state']): string =>
  state === 'waiting' ? 'It waits, but will not be crawled' : `It is ${state}, and will not be crawled in any case`;

const placeOf = ({ ahead }: OpenLink): string =>
  ahead === 0 ? 'It is the next in the queue' : `${plural(ahead, 'link is', 'links are')} before it`;

const budgetOf = ({ site }: SiteView, { sites, maxPagesPerSite }: Settings): string => {
  const rule = valueFor(sites, site, 'maxPages');
  const [set, pagesMax] = rule ? [`max-pages of the rule for ${rule.by}`, rule.value] : [PER_SITE, maxPagesPerSite];
  return `${set} is ${pagesMax ?? 'lifted'}`;
};
const PER_SITE = '--max-pages-per-site';

/** A site that was never visited has no delay of its own yet. */
const delayOf = (site: SiteView, { settings, address }: Pick<Found, 'settings' | 'address'>): number => {
  const setMs = valueFor(settings.sites, address.host, 'delayMs')?.value ?? settings.delayMs;
  return valueFor(settings.sites, address.host, 'own')?.value ? setMs : Math.max(site.delayMs, setMs);
};

/** When a link is visited, if the crawl runs, its site stays well and nothing goes before it. Null when it never is. */
export const visitAtOf = (
  open: OpenLink,
  site: SiteView,
  { settings, address, now, reason }: Pick<Found, 'settings' | 'address' | 'now' | 'reason'>,
): number | null =>
  reason === 'waiting' || reason === 'in-trouble'
    ? Math.max(site.dueAt, now) + open.ahead * delayOf(site, { settings, address })
    : null;

export const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const inTime = (at: number, { now, running }: Pick<Found, 'now' | 'running'>): string =>
  at > now ? `in ${writeDuration(at - now)} (${timeOf(at)})` : running ? 'now' : 'at once';
const inARow = (n: number): string => (n === 1 ? 'once' : `${n} times in a row`);
const turnOf = (ms: number, running: boolean): string =>
  running ? `in about ${writeDuration(ms)}` : `about ${writeDuration(ms)} later`;
const triesOf = (n: number): string => plural(n, 'try', 'tries');
const nth = (n: number): string => ['first', 'second', 'third'][n - 1] ?? `${n}th`;
