/** The one door through which raw text becomes an address that the crawl knows. */

import type { CanonicalUrl } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import { hasEndlessAuthority } from './authority.ts';
import { normalizePercent } from './percent.ts';

/** What the crawl records of this form: a program with another one must not open it. */
export const CANONICAL_VERSION = 1;

/** Longer addresses are traps or blobs; servers and caches begin to refuse them from here on. */
export const URL_CHARS_MAX = 2_000;
/** Text that is not even parsed. Above URL_CHARS_MAX, because a fragment or dot segments may still go. */
const RAW_CHARS_MAX = 8_000;
/** RFC 1035, 2.3.4: 255 octets on the wire are 253 characters. */
const HOST_CHARS_MAX = 253;

export interface Address {
  readonly url: CanonicalUrl;
  /** Scheme, host and port: `https://example.org:8080`. */
  readonly origin: string;
  /** Without the port; IPv6 in brackets. */
  readonly host: string;
  /** Path and query: what robots rules are matched against. */
  readonly path: string;
}

/** The port that the address names; null where it is that of the scheme. */
export const portOf = ({ origin, host }: Address): number | null => {
  const at = origin.startsWith('https') ? 8 : 7;
  return origin.length > at + host.length ? Number(origin.slice(at + host.length + 1)) : null;
};

/**
 * Read an address, relative to `base` if that is given, and bring it into its canonical form.
 *
 * WHATWG parsing gives the lower-case host (IDN in punycode), no default port, no dot segments, and
 * `/` for an empty path. On top: fragment, credentials and one trailing dot of the host go; escapes
 * get one spelling (`normalizePercent`); a `?` with nothing behind it goes, because forms without
 * fields write it and no server is known to tell the two apart. All else is kept, for it can name
 * another page: a trailing slash, the order and case of the query, `|`, doubled slashes.
 *
 * This runs for every link of every page: a look whether it is there already, or one parse, then plain
 * string cuts. The setters of URL cost more than the parse.
 */
export const canonicalize = (raw: string, base?: string): Address | ScopeRefusal => {
  if (raw.length > RAW_CHARS_MAX) return 'too-long';
  const plain = raw.length <= URL_CHARS_MAX ? readPlain(raw) : null;
  if (plain) return plain;
  if (hasEndlessAuthority(raw)) return 'not-a-url';
  // An endless <base> would be parsed again for each link of its page; no relative link could fit below it. One that is
  // no address spoils these only, too.
  const parsed = URL.parse(raw, base !== undefined && base.length > RAW_CHARS_MAX ? undefined : base) ?? URL.parse(raw);
  if (parsed === null) return 'not-a-url';
  const href = parsed.href;
  const hostAt = href.startsWith('https://') ? 8 : href.startsWith('http://') ? 7 : 0;
  if (hostAt === 0) return 'not-http';

  // In a parsed href the first `/` after the scheme ends the authority, and the first `#` starts the fragment.
  const pathAt = href.indexOf('/', hostAt);
  const fragmentAt = href.indexOf('#', pathAt);
  let path = fragmentAt < 0 ? href.slice(pathAt) : href.slice(pathAt, fragmentAt);
  if (path.endsWith('?') && path.indexOf('?') === path.length - 1) path = path.slice(0, -1);
  path = normalizePercent(path);

  const authority = href.slice(Math.max(hostAt, href.lastIndexOf('@', pathAt) + 1), pathAt);
  const portAt = authority.endsWith(']') ? -1 : authority.lastIndexOf(':');
  const port = portAt < 0 ? '' : authority.slice(portAt);
  const written = portAt < 0 ? authority : authority.slice(0, portAt);
  const host = written.endsWith('.') ? written.slice(0, -1) : written;
  if (!canBeResolved(host)) return 'not-a-url';

  const origin = href.slice(0, hostAt) + host + port;
  if (origin.length + path.length > URL_CHARS_MAX) return 'too-long';
  return { url: (origin + path) as CanonicalUrl, origin, host, path };
};

/**
 * A path, and a query if there is one, of which parsing changes nothing: no escapes, no dot segments, no empty ones.
 */
const PLAIN_PATH = /^(?=\/)(?:\/[\w~-][\w.~-]*)*\/?(?:\?[\w.~=&-]+)?$/;
/**
 * A plain URL whose host is no number: lower case, no port, and none of the labels that stand for other scripts.
 */
const PLAIN_URL =
  /^(https?:\/\/((?:(?!xn--)[a-z0-9-]+\.)+(?!xn--)[a-z]{2,}))((?=\/)(?:\/[\w~-][\w.~-]*)*\/?(?:\?[\w.~=&-]+)?)$/;

/** Most addresses are in their canonical form as they are written; to see that costs a fifth of parsing them. */
const readPlain = (raw: string): Address | null => {
  const found = PLAIN_URL.exec(raw);
  if (found === null || found[2]!.length > HOST_CHARS_MAX) return null;
  return { url: raw as CanonicalUrl, origin: found[1]!, host: found[2]!, path: found[3]! };
};

/** `canonicalize` for the addresses of one page, many of which are plain paths of its own origin. */
export const resolverOf = (base: string): ((raw: string) => Address | ScopeRefusal) => {
  const own = canonicalize(base);
  if (typeof own === 'string') return (raw) => canonicalize(raw, base);
  const { origin, host } = own;
  return (raw) => {
    if (origin.length + raw.length > URL_CHARS_MAX || !PLAIN_PATH.test(raw)) return canonicalize(raw, base);
    return { url: (origin + raw) as CanonicalUrl, origin, host, path: raw };
  };
};

/**
 * WHATWG lets names pass that DNS cannot carry. They are refused here, also because taking dots off
 * a name such as `0x7f.1..` would leave an address that a second reading spells another way.
 */
const canBeResolved = (host: string): boolean =>
  host.length > 0 &&
  host.length <= HOST_CHARS_MAX &&
  !host.startsWith('.') &&
  !host.endsWith('.') &&
  !host.includes('..');
