/** The hosts of the load's web: what kinds there are, how many of each, and where links lead. */

import { diceFor, mix } from '../src/world/random.ts';

/** Hosts in a thousand; the rest are good. What each does is in `load-server.ts`. */
const BAD_SHARES = {
  loris: 120, // a body of one byte a second
  endless: 80, // a head of one line a second, without an end
  mute: 90, // takes the request and never answers
  deaf: 30, // the same, already for robots.txt
  maze: 10, // robots.txt leads through slow redirects, then never answers
  short: 20, // promises more bytes than it sends, and waits
  early: 25, // the same, and closes
  long: 20, // sends more bytes than it promised
  snap: 25, // resets before the head
  tear: 25, // resets in the middle of the body
  broken: 30, // 500
  flood: 10, // a body without an end, as fast as it is taken
  boast: 10, // a head without an end, as fast as it is taken
  babble: 10, // not HTTP
  closed: 20, // nothing listens there
  stall: 15, // takes the connection, but not the TLS handshake
} as const;

export type BadKind = keyof typeof BAD_SHARES;
export const BAD_KINDS = Object.keys(BAD_SHARES) as BadKind[];

/** Where nothing listens, and where TLS is spoken: `--connect-to` tells ports apart, not kinds. */
export const CLOSED_PORT = 81;

export interface Host {
  readonly kind: 'good' | BadKind;
  readonly index: number;
}

export interface Hosts {
  readonly good: readonly Host[];
  readonly bad: readonly Host[];
}

/** At least one host of every kind. */
export const makeHosts = (count: number): Hosts => {
  const bad = BAD_KINDS.flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.round((count * BAD_SHARES[kind]) / 1000)) }, (_, index) => ({ kind, index })),
  );
  return {
    bad,
    good: Array.from({ length: Math.max(1, count - bad.length) }, (_, index) => ({ kind: 'good' as const, index })),
  };
};

const originOf = ({ kind, index }: Host): string => {
  const name = `${kind}-${index}.test`;
  if (kind === 'stall') return `https://${name}`;
  return kind === 'closed' ? `http://${name}:${CLOSED_PORT}` : `http://${name}`;
};

export const kindOf = (hostname: string): Host['kind'] => {
  const kind = hostname.slice(0, hostname.indexOf('-'));
  return (BAD_KINDS as readonly string[]).includes(kind) ? (kind as BadKind) : 'good';
};

export const seedsOf = ({ good, bad }: Hosts): string[] => [...good, ...bad].map((host) => `${originOf(host)}/p/0`);

/**
 * One page in so many names a second page of its own host, so that lines grow slowly; as many name a host never seen
 * before.
 */
const SOMETIMES = 8;

/** A good page has a successor on its host, so a crawl never runs dry, and something new for one of the bad hosts. */
export const linksOf = (hosts: Hosts, hostname: string, page: number): string[] => {
  const key = [...hostname].reduce((sum, letter) => mix(sum, letter.charCodeAt(0)), page);
  const dice = diceFor(key);
  const links = [`${originOf(hosts.bad[dice(hosts.bad.length)]!)}/from/${hostname}/${page}`];
  if (!hostname.startsWith('good-')) return links; // a host that came later has one page
  links.push(`/p/${page + 1}`, `${originOf(hosts.good[dice(hosts.good.length)]!)}/p/${dice(page + 1)}`);
  if (dice(SOMETIMES) === 0) links.push(`/more/${page}`);
  if (dice(SOMETIMES) === 0) links.push(`http://new-${key.toString(36)}.test/p/0`);
  return links;
};
