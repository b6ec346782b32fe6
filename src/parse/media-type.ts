/** What a Content-Type says. */

/** `Text/HTML; charset=x` -> `text/html`. */
export const essence = (contentType: string): string => contentType.split(/[;,]/, 1).join('').trim().toLowerCase();

export const FEED_TYPES: ReadonlySet<string> = new Set([
  'application/rss+xml',
  'application/atom+xml',
  'application/rdf+xml',
]);
