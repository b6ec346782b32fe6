/** Headers that a person adds to requests: which there can be, and why others cannot. */

/** A header field, ready to be sent. */
export type Header = readonly [name: string, value: string];

export const HEADERS_MAX = 32;
/** Common servers refuse a field of more than 8 KiB. */
export const HEADER_VALUE_CHARS_MAX = 8_000;
const LANGUAGES_CHARS_MAX = 256;

/** RFC 9110, 5.6.2: what a name is made of. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** What a value may have: no line end, so that nothing can be injected, and nothing that servers read differently. */
export const isSendable = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);

const OWN_FLAGS: Readonly<Record<string, string>> = {
  'user-agent': '--user-agent',
  from: '--email',
  'accept-language': '--accept-language',
};

/** How a request is framed, and what the crawler can read: none of it is a person's to say. */
const SET_BY_US: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept',
  'accept-encoding',
]);

const IN_PART = /^(?:range|if-.*)$/;

/** Words in the name of a header that say that its value is a secret, as in X-Api-Key and X-AuthToken. */
const SECRET =
  /(?:^|[-_])(?:[a-z]*(?:auth|cookie2?|key|token|secret|password)|authorization|session(?:id)?|credentials?|signature|jwt)(?:[-_]|$)/;

/** The name and the value of `Name: value`; null when it is no such text. */
export const readHeader = (text: string): Header | null => {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0));
  return NAME.test(name) ? [name, text.slice(colon + 1).trim()] : null;
};

/** Why the crawler does not send a header of this name for anybody; null when it does. Completes "--header ...". */
export const nameComplaint = (name: string): string | null => {
  const known = name.toLowerCase();
  const flag = OWN_FLAGS[known];
  if (flag !== undefined) return `${name} has a flag of its own: use ${flag}`;
  if (SET_BY_US.has(known)) return `${name} is set by the crawler: omit it`;
  return IN_PART.test(known) ? `${name} asks for a part, and pages are fetched whole: omit it` : null;
};

/** What is wrong with a value; null when nothing is. The value is not quoted: it may be a secret. */
export const valueComplaint = ([name, value]: Header): string | null => {
  if (value === '') return `${name} has no value: write '${name}: value'`;
  if (!isSendable(value)) return `${name} has characters that cannot be sent in a header: use printable ASCII`;
  return value.length > HEADER_VALUE_CHARS_MAX
    ? `${name} has a value of ${value.length} characters, and the most is ${HEADER_VALUE_CHARS_MAX}`
    : null;
};

/** What is wrong with one header; null when nothing is. `secret` completes it for a name whose value is one. */
export const headerComplaint = (header: Header, secret: string): string | null => {
  const [name] = header;
  if (!NAME.test(name)) return `${JSON.stringify(name)} is not the name of a header`;
  if (SECRET.test(name.toLowerCase())) return `${name} ${secret}`;
  return nameComplaint(name) ?? valueComplaint(header);
};

/** What is wrong with the headers for all sites, completing "--header ..."; null when nothing is. */
export const headersComplaint = (texts: readonly string[]): string | null => {
  if (texts.length > HEADERS_MAX) return `is given ${texts.length} times, and the most is ${HEADERS_MAX}`;
  const names = new Set<string>();
  for (const text of texts) {
    const header = readHeader(text);
    if (header === null) return `${JSON.stringify(text)} is not a header: write 'Name: value'`;
    const [name] = header;
    const why = headerComplaint(
      header,
      'would send a secret to every site: give it for its site alone, by --credentials FILE',
    );
    if (why !== null) return why;
    if (names.has(name.toLowerCase())) return `${name} is given twice: write one, with both values`;
    names.add(name.toLowerCase());
  }
  return null;
};

/** RFC 9110, 12.5.4: languages, each with its weight if it has one. */
const LANGUAGE = String.raw`(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)(?: *; *q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?`;
const LANGUAGES = new RegExp(`^${LANGUAGE}(?: *, *${LANGUAGE})*$`);

/** What is wrong with a list of languages, completing "--accept-language ..."; null when nothing is. */
export const languagesComplaint = (value: unknown): string | null => {
  if (value === '') return null;
  if (typeof value === 'string' && value.length > LANGUAGES_CHARS_MAX)
    return `has ${value.length} characters, and the most is ${LANGUAGES_CHARS_MAX}: shorten it`;
  return typeof value === 'string' && LANGUAGES.test(value)
    ? null
    : `${JSON.stringify(value)} is not a list of languages: write one such as "de-AT, de;q=0.9, *;q=0.1"`;
};
