/** Which site does a host belong to? The site is the unit of politeness. */

import { getDomain, parse } from 'tldts';
import tldts from 'tldts/package.json' with { type: 'json' };

/** The public suffix list comes inside tldts, so its version names the list. */
export const PUBLIC_SUFFIX_VERSION = `tldts-${tldts.version}`;

const OPTIONS = {
  allowPrivateDomains: true, // two users of github.io are two sites
  extractHostname: false, // a host is given, not a URL
  validateHostname: false, // the canonical form has done that
};

/**
 * The registrable domain of a canonical host (public suffix and one label), or the host itself
 * where there is none: an address, `localhost`, a public suffix that is called by its own name.
 */
export const siteOf = (host: string): string => getDomain(host, OPTIONS) ?? host;

/** Suffixes that are on no list: RFC 2606, RFC 6762, and what ICANN keeps for networks of one's own. */
const SPECIAL_SUFFIX = /\.(?:test|example|localhost|local|internal)$/;

/** Whether the host ends as those of sites do: `seeds.txt` does not. An address has no suffix. */
export const hasKnownSuffix = (host: string): boolean => {
  const { isIcann, isPrivate } = parse(host, OPTIONS);
  return isIcann === true || isPrivate === true || SPECIAL_SUFFIX.test(host);
};
