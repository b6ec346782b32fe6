/**
 * The queue of an origin in trouble. It is made like the queue of a site, and named by both: `example.org
 * http://old.example.org`. No site has a space in its name.
 *
 * It is claimed when the origin may be asked again, but no request is made under its own lease: its links go back to
 * their site, whose lease and clock alone allow a request.
 */

export const originQueue = (site: string, origin: string): string => `${site} ${origin}`;

export const isOriginQueue = (queue: string): boolean => queue.includes(' ');

/** The site that a queue belongs to: itself, if it is the queue of a site. */
export const siteOfQueue = (queue: string): string => {
  const end = queue.indexOf(' ');
  return end === -1 ? queue : queue.slice(0, end);
};

/** The origin that a queue is of; empty for the queue of a site. */
export const originOfQueue = (queue: string): string => {
  const end = queue.indexOf(' ');
  return end === -1 ? '' : queue.slice(end + 1);
};
