/** What is known of one link, put together from what a store found of it. */

import type { PageRow } from '../model/page.ts';
import type { Waiting } from '../model/waiting.ts';
import type { LinkView, OpenLink, SiteView } from './views.ts';

export interface LinkParts {
  readonly site: SiteView | null;
  readonly page: PageRow | null;
  /** The link of the site that is under visit. */
  readonly leased: Waiting | null;
  /** The link in the site's queue; null when it is not there, or was not looked for. */
  readonly found: OpenLink | null;
  /** Links of the queue that were looked at. */
  readonly lookedAt: number;
  /** The URL is known and in no other state, so that another member, whose rows are not at hand, has settled it. */
  readonly isElsewhere?: boolean;
}

export const linkView = (url: string, { site, page, leased, found, lookedAt, isElsewhere }: LinkParts): LinkView => {
  const view = { page: null, open: null, site, lookedAt };
  // A row may be written just before its settlement: until then the link is leased.
  if (leased?.link.url === url) return { ...view, state: 'leased', open: { ...leased, ahead: 0 }, lookedAt: 0 };
  if (page) return { ...view, state: 'settled', page };
  // Another of the site's links may be leased meanwhile.
  const inQueue = site?.state === 'parked' || site?.state === 'held' ? site.state : 'waiting';
  if (found) return { ...view, state: inQueue, open: found };
  return { ...view, state: isElsewhere ? 'settled' : 'unknown' };
};
