/** What the settings of the crawl mean for the requests, the visits and the claims of a fetch thread. */

import type { Sending } from '../fetch/fetcher.ts';
import { bodyTypesOf } from '../model/body-types.ts';
import { sitePagesMaxOf } from '../model/site-budget.ts';
import { essence } from '../parse/media-type.ts';
import { endingOf } from '../url/ending.ts';
import type { Homes } from '../url/homes.ts';
import { scopeOf } from '../url/scope-of.ts';
import { compileSiteRules } from '../url/site-rules.ts';
import { openSiteSet } from '../url/site-set.ts';
import type { CrewChange } from '../visit/crew.ts';
import { createHeadersFor } from './headers-for.ts';
import type { HomeLine } from './home-line.ts';
import type { Footing } from './live-settings.ts';
import type { SettingsNow } from './messages.ts';
import { leaseMsOf } from './visit-times.ts';

const CONNECT_TIMEOUT_MS_MAX = 10_000;

export const sendingUnder = ({ settings, userAgent }: SettingsNow): Sending => ({
  userAgent,
  from: settings.email,
  acceptLanguage: settings.acceptLanguage,
  headersFor: createHeadersFor(settings.headers, compileSiteRules(settings.sites)),
  connectTimeoutMs: Math.min(settings.timeoutMs, CONNECT_TIMEOUT_MS_MAX),
  responseTimeoutMs: settings.timeoutMs,
  totalTimeoutMs: settings.timeoutMs,
  verifyTls: settings.verifyTls,
});

/** What is judged and decided; how requests are sent is not in it. */
export const crewUnder = (
  { settings, productToken, scopeName, excluded, homes }: SettingsNow,
  line: HomeLine,
): Omit<CrewChange, 'fetch' | 'readRobots'> => {
  const types = bodyTypesOf(settings.types);
  // Visits that began with homes end with some, also when the crawl has none any more.
  let known = line.known;
  const homesNow = (): Homes => (known = line.known ?? known)!;
  return {
    scope: scopeOf(settings, homes && homesNow, excluded && openSiteSet(excluded)),
    homes: homes && line,
    siteWaitingMax: settings.maxWaitingPerSite,
    rules: {
      pace: { delayMs: settings.delayMs, troubleDelayMs: settings.troubleDelayMs, failuresMax: settings.parkAfter },
      productToken,
      bodyBytesMax: settings.bodyBytesMax,
      wantsBody: (contentType, url) => types.wants(essence(contentType), endingOf(url)),
      scopeName,
      sitemaps: settings.sitemaps,
      sites: compileSiteRules(settings.sites),
    },
  };
};

export const askUnder = ({ settings }: SettingsNow): Footing['ask'] => ({
  delayMs: settings.delayMs,
  pagesMax: settings.maxPages,
  sitePagesMax: sitePagesMaxOf(settings),
  leaseMs: leaseMsOf(settings),
});
