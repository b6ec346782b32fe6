/** Which settled pages a command is about, as flags. */

import type { PageFilter } from '../contract/views.ts';
import { FAILURES, type FailureCause } from '../model/failure.ts';
import { ANSWERED_OUTCOMES, failedName, SCOPE_REFUSALS, UNANSWERED_OUTCOMES } from '../model/outcome.ts';
import { UsageError } from '../model/read-settings.ts';
import { canonicalize } from '../url/canonical.ts';
import { siteOf } from '../url/site.ts';
import { nearest } from '../lib/nearest.ts';
import type { Flag, Read } from './flags.ts';
import { readCount } from './listing.ts';

export const FILTER_FLAGS: readonly Flag[] = [
  { name: 'site', value: 'SITE', says: 'only pages of this site' },
  { name: 'status', value: 'CODE', says: 'only pages with this HTTP status' },
  { name: 'outcome', value: 'NAME', says: 'only pages with this outcome (docs/reference/outcomes.md)' },
  { name: 'limit', value: 'N', says: 'at most N pages' },
];

export const filterOf = (read: Read): PageFilter => {
  const site = read.values.get('site')?.[0];
  const status = readCount(read, 'status');
  const limit = readCount(read, 'limit');
  const outcome = read.values.get('outcome')?.[0];
  if (outcome !== undefined) checkOutcome(outcome);
  return {
    ...(site === undefined ? {} : { site: siteNamed(site) }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(limit === undefined ? {} : { limit }),
  };
};

/** A name that no page can have would find nothing, which looks as if there were none. */
const checkOutcome = (name: string): void => {
  const known = [ANSWERED_OUTCOMES, UNANSWERED_OUTCOMES, SCOPE_REFUSALS]
    .flatMap((names) => Object.keys(names))
    .concat((Object.keys(FAILURES) as FailureCause[]).map(failedName));
  if (known.includes(name)) return;
  const best = nearest(name, known);
  throw new UsageError(
    `--outcome "${name}" is not known${best === null ? '' : ` (did you mean ${best}?)`}: "gossamer status <dir>" shows which there are`,
  );
};

/** A person may give a host or a URL of the site. */
const siteNamed = (text: string): string => {
  const address = canonicalize(text.includes('://') ? text : `http://${text}`);
  return typeof address === 'string' ? text : siteOf(address.host);
};
