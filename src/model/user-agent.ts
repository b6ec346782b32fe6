/** What a person may give as the name of their crawler: a product, or a whole User-Agent with a URL in it. */

/** Longer ones fill logs of servers, and some servers refuse them. */
export const USER_AGENT_CHARS_MAX = 512;

/** RFC 9309, 2.2.1: a name that robots.txt can speak to. */
const TOKEN = /^[A-Za-z_-]{1,64}$/;
const PRODUCT = /^[A-Za-z_-]{1,64}(?:\/[\w.-]{1,32})?$/;

/** A product alone: the contact is put behind it. */
export const isProduct = (text: string): boolean => PRODUCT.test(text);

/**
 * The name for robots.txt that stands first in a User-Agent; null where that is none. All browsers begin with Mozilla:
 * a crawler that took this for its name would obey no rule that is meant for it.
 */
export const tokenIn = (userAgent: string): string | null => {
  const [first = ''] = userAgent.split(/[/\s]/, 1);
  return TOKEN.test(first) && first.toLowerCase() !== 'mozilla' ? first : null;
};

const hasUrl = (text: string): boolean => URL.canParse(/https?:\/\/[^\s();,]*/i.exec(text)?.[0] ?? '');

/** What is wrong with it, completing "--user-agent ..."; null when nothing is. */
export const userAgentComplaint = (value: unknown): string | null => {
  const written = JSON.stringify(value);
  if (typeof value === 'string') {
    if (value.length > USER_AGENT_CHARS_MAX)
      return `has ${value.length} characters, and the most is ${USER_AGENT_CHARS_MAX}: shorten it`;
    if (!/^[\x20-\x7e]*$/.test(value))
      return `${written} has characters that cannot be sent in a header: use printable ASCII`;
    if (value === '' || isProduct(value) || (hasUrl(value) && value.trim() === value)) return null;
  }
  return (
    `${written} is not a product token: use letters, - and _, with a version if you like, such as MyBot/1.0; ` +
    'or give a whole User-Agent with the URL of a page about it, such as "MyBot/1.0 (+https://example.org/bot)"'
  );
};

/** What is wrong with it, completing "--robots-token ..."; null when nothing is. */
export const robotsTokenComplaint = (value: unknown): string | null =>
  typeof value === 'string' && (value === '' || TOKEN.test(value))
    ? null
    : `${JSON.stringify(value)} is not a name that robots.txt can speak to: use letters, - and _, such as MyBot`;
