/** What a line of a seed file or an exclude file names. */

import { portComplaint } from '../model/blocked-ports.ts';
import type { Link } from '../model/link.ts';
import { SCOPE_REFUSALS } from '../model/outcome.ts';
import { canonicalize, portOf, type Address } from './canonical.ts';
import { HOME_KINDS, type HomeKind } from './homes.ts';
import { siteOf } from './site.ts';

export type Blank = { readonly kind: 'blank' };
/** `why` completes "line 12: ...". */
export type Bad = { readonly kind: 'bad'; readonly why: string };
export type Seed =
  /** With the scope that its line names, if it names one. */
  { readonly kind: 'link'; readonly link: Link; readonly home: HomeKind | null } | Blank | Bad;
export type Excluded = { readonly kind: 'name'; readonly name: string } | Blank | Bad;

/** How much of a bad line is shown. */
const SHOWN_CHARS_MAX = 60;

const SCOPE_WORDS = `${HOME_KINDS.slice(0, -1).join(', ')} or ${HOME_KINDS.at(-1)}`;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** What a host that was written without a scheme may consist of once it is canonical. */
const HOST = /^(?:[a-z0-9_.-]+|\[[0-9a-f:]+\])$/;

/**
 * A domain or host, with or without port and path, is tried over https and then http; a URL is taken as it is. A second
 * word is its scope.
 */
export const readSeed = (line: string): Seed => {
  const written = content(line);
  if (written === '') return { kind: 'blank' };
  if (hasLogin(written)) {
    const hidden = written.replace(/^((?:[a-z][a-z0-9+.-]*:\/\/)?[/\\]*)[^/\\?#]*@/i, '$1***@');
    return bad(hidden, 'has a user name or a password in it: omit them; --credentials FILE logs in');
  }
  const [text = '', scope, ...more] = written.split(/\s+/);
  if (more.length > 0) return bad(written, 'has more than two words');
  const home = HOME_KINDS.find((kind) => kind === scope) ?? null;
  if (scope === 'any') return bad(written, 'cannot be: any is for the whole crawl, by --scope any');
  if (scope !== undefined && home === null) return bad(written, `has "${scope}" for a scope: it is ${SCOPE_WORDS}`);
  const read = readName(text);
  if ('why' in read) return read;
  const { address, bare } = read;
  const complaint = portComplaint(portOf(address));
  if (complaint !== null) return bad(text, `is not usable: its ${complaint}`);
  const link: Link = {
    url: address.url,
    site: siteOf(address.host),
    depth: 0,
    via: '',
    hops: 0,
    fallback: bare,
    first: false,
  };
  return { kind: 'link', link, home };
};

/** Whether a user name stands before the host of a URL, or a user name with a password before a bare host. */
const hasLogin = (text: string): boolean => {
  const authority = /^[/\\]*([^/\\?#]*)/.exec(text.replace(SCHEME, ''))![1]!;
  if (SCHEME.test(text)) return authority.includes('@');
  const colon = authority.indexOf(':');
  return colon >= 0 && authority.indexOf('@', colon) > 0 && !/^mailto:/i.test(authority);
};

/** A site or host never to call: itself and all below it. Of a URL, its host; `*.example.org` is `example.org`. */
export const readExcluded = (line: string): Excluded => {
  const text = content(line);
  if (text === '') return { kind: 'blank' };
  const read = readName(text.replace(/^(?:\*?\.)/, ''));
  return 'why' in read ? read : { kind: 'name', name: read.address.host };
};

/** The line without byte order mark, white space at its ends, and comment. */
const content = (line: string): string => {
  const text = line.trim(); // a byte order mark is white space to it
  if (text.startsWith('#')) return '';
  // A `#` inside a URL starts its fragment; only one behind white space starts a comment.
  return text.replace(/\s#.*$/s, '').trimEnd();
};

const readName = (text: string): { readonly address: Address; readonly bare: boolean } | Bad => {
  if (/\s/.test(text)) return bad(text, 'has white space inside');
  const bare = !SCHEME.test(text);
  const named = text.startsWith('//') ? text.slice(2) : text;
  if (bare) {
    const written = named.split(/[/?#]/, 1)[0] ?? '';
    if (written.includes('@')) return bad(text, 'is not a domain, host or URL');
    if (
      !written.includes('.') &&
      !written.startsWith('[') &&
      !/^localhost(?::|$)/i.test(written) &&
      !/[。．｡]/.test(written)
    ) {
      return bad(text, 'is not a domain, host or URL: it has no dot');
    }
  }
  const address = canonicalize(bare ? `https://${named}` : text);
  if (typeof address === 'string') return bad(text, `is not usable: ${SCOPE_REFUSALS[address]}`);
  if (bare && !HOST.test(address.host)) return bad(text, 'has a character that no host name has');
  return { address, bare };
};

const bad = (text: string, what: string): Bad => {
  const shown = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}...` : text;
  return { kind: 'bad', why: `"${shown}" ${what}` };
};
