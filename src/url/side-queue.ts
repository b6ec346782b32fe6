/**
 * Queues beside that of a site, made like it. No site has a space in its name.
 *
 * That of an origin in trouble is named by both: `example.org http://old.example.org`. It is claimed when the origin
 * may be asked again. That of links that are not wanted for now has the fingerprint of the scope that refused them:
 * `example.org !1f3a...`; it is held until the scope is another one.
 *
 * No request is made under the lease of either: their links go back to their site, whose lease and clock alone allow a
 * request.
 */

export const originQueue = (site: string, origin: string): string => `${site} ${origin}`;

export const refusedQueue = (site: string, scope: string): string => `${site} !${scope}`;

export const isRefusedQueue = (queue: string): boolean => queue.includes(' !');

/** Whether a queue lies beside that of its site. */
export const isSideQueue = (queue: string): boolean => queue.includes(' ');

/** The site that a queue belongs to: itself, if it is the queue of a site. */
export const siteOfQueue = (queue: string): string => {
  const end = queue.indexOf(' ');
  return end === -1 ? queue : queue.slice(0, end);
};

/** The origin that a queue is of; empty for any other queue. */
export const originOfQueue = (queue: string): string => {
  const end = queue.indexOf(' ');
  return end === -1 || isRefusedQueue(queue) ? '' : queue.slice(end + 1);
};

/** A queue as a person is told of it. */
export const nameOfQueue = (queue: string): string =>
  isRefusedQueue(queue) ? `${siteOfQueue(queue)} (not wanted)` : originOfQueue(queue) || queue;
