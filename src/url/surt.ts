/** The key under which an index of an archive knows a URL: its host turned round, all in lower case. */

/**
 * `http://www.Example.org/B/?y=2&x=1` becomes `org,example)/b?x=1&y=2`.
 *
 * pywb looks a page up by the key that the package `surt` of the Internet Archive makes of its URL, so this one has to
 * be the same down to its oddities: escapes are undone as often as it takes and written once, `www.` goes, a slash at
 * the end goes, well-known session numbers go, and the parts of the query are sorted.
 */
export const surtOf = (url: string): string => {
  const { hostname, port, pathname, search } = new URL(url);
  const host = hostname
    .replace(/^www\d*\./, '')
    .split('.')
    .reverse()
    .join(',');
  const query = queryOf(search.slice(1));
  return `${host}${port === '' ? '' : `:${port}`})${pathOf(pathname)}${query === '' ? '' : `?${query}`}`;
};

const pathOf = (written: string): string => {
  const path = PATH_SESSIONS.reduce(
    (text, session) => text.replace(session, '$1$2'),
    escaped(withoutDots(unescaped(written))).toLowerCase(),
  );
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
};

const queryOf = (written: string): string => {
  const query = QUERY_SESSIONS.reduce(
    (text, session) => text.replace(session, '$1$2'),
    escaped(unescaped(written)),
  ).toLowerCase();
  return query
    .split('&')
    .map(nameAndValue)
    .sort(byNameThenValue)
    .map((parts) => parts.join('='))
    .join('&');
};

/** As pages of ASP.NET have them before their name. */
const PATH_SESSIONS = [
  /^(.*\/)\((?:[a-z]\([0-9a-z]{24}\))+\)\/([^?]+\.aspx.*)$/i,
  /^(.*\/)\([0-9a-z]{24}\)\/([^?]+\.aspx.*)$/i,
];

/** What follows one is kept, and so is an `&` before it. */
const QUERY_SESSIONS = [
  'jsessionid=[0-9a-z]{32}',
  'phpsessid=[0-9a-z]{32}',
  'sid=[0-9a-z]{32}',
  'aspsessionid[a-z]{8}=[a-z]{24}',
  'cfid=[^&]+&cftoken=[^&]+',
].map((session) => new RegExp(`^(.*)${session}(?:&(.*))?$`, 'i'));

/** Each round shortens the text; a canonical URL is ASCII, so one character here is one byte. */
const unescaped = (text: string): string => {
  for (let now = text; ; ) {
    const next = now.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (next === now) return now;
    now = next;
  }
};

const escaped = (text: string): string =>
  text.replace(/[\x00-\x20\x7f-\xff#%]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** What was escaped may have been dots and slashes. */
const withoutDots = (path: string): string => {
  const kept: string[] = [];
  for (const part of path.split('/').slice(1)) {
    if (part === '..' && kept.length > 0) kept.pop();
    else if (part !== '.') kept.push(part);
  }
  return `/${kept.filter((part, i) => part !== '' || i === kept.length - 1).join('/')}`;
};

const nameAndValue = (part: string): readonly string[] => {
  const at = part.indexOf('=');
  return at < 0 ? [part] : [part.slice(0, at), part.slice(at + 1)];
};

/** A name without a value comes before the same with one. */
const byNameThenValue = (a: readonly string[], b: readonly string[]): number =>
  compare(a[0]!, b[0]!) || a.length - b.length || compare(a[1] ?? '', b[1] ?? '');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
