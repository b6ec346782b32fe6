/** The request as it is sent. */

export interface RequestTails {
  readonly keep: string;
  readonly close: string;
}

/** What follows the Host field, the same for all requests. Throws when a value could break out of its field. */
export const createRequestTails = (userAgent: string, from: string): RequestTails => {
  const fields =
    `User-Agent: ${checkedValue('user agent', userAgent)}\r\n` +
    `From: ${checkedValue('contact', from)}\r\n` +
    'Accept: text/html,application/xhtml+xml,text/plain;q=0.9,application/xml;q=0.8,*/*;q=0.5\r\n' +
    'Accept-Encoding: gzip, deflate, br\r\n';
  return { keep: `${fields}Connection: keep-alive\r\n\r\n`, close: `${fields}Connection: close\r\n\r\n` };
};

/** A parsed URL holds no space, control or non-ASCII character in its path and host, so nothing can be injected. */
export const requestHead = (url: URL, tail: string): string =>
  `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n${tail}`;

const checkedValue = (name: string, value: string): string => {
  if (/^[\x20-\x7e\xa0-\xff]*$/.test(value)) return value;
  throw new Error(`the ${name} ${JSON.stringify(value)} cannot be sent in a header; use printable latin letters`);
};
