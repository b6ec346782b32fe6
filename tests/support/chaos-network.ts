/**
 * Where the members of a chaos row live: each in a network namespace with one link to the small web and one to the
 * store, which can be cut; or, where that cannot be done, all on loopback.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export const MEMBER_COUNT = 3;
/** A member by its number, from 0 on. */
export type MemberIndex = number;
export type Link = 'web' | 'store';

export interface Network {
  readonly kind: 'namespaces' | 'loopback';
  /** Where the small web and the store listen. */
  readonly webHost: string;
  readonly storeHost: string;
  /** What is put before a member's command. */
  readonly enter: (member: MemberIndex) => readonly string[];
  /** Whose request came from this address; null where addresses do not tell. */
  readonly memberAt: (address: string) => MemberIndex | null;
  /** Only with namespaces. */
  readonly cut: (member: MemberIndex, links: readonly Link[]) => void;
  readonly mend: (member: MemberIndex) => void;
}

const LOOPBACK = '127.0.0.1';
const HOSTS: Readonly<Record<Link, string>> = { web: '10.78.0.1', store: '10.79.0.1' };
const LINKS = Object.keys(HOSTS) as Link[];

/** The first three bytes of the network between the hub and a member; the hub is 1, the member 2. */
const netOf = (member: MemberIndex, link: Link): string => `10.77.${2 * member + LINKS.indexOf(link)}`;
const hubEnd = (member: MemberIndex, link: Link): string => `${link}${member}`;
const spaceOf = (member: MemberIndex): string => `member${member}`;

const ip = (...words: readonly string[]): void =>
  void execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000 });

export const onLoopback = (): Network => ({
  kind: 'loopback',
  webHost: LOOPBACK,
  storeHost: LOOPBACK,
  enter: () => [],
  memberAt: () => null,
  cut: () => {
    throw new Error('a link cannot be cut without network namespaces');
  },
  mend: () => {},
});

/**
 * This process must be in network and mount namespaces of its own (`unshare --net --mount`): all that is made here is
 * gone with them.
 */
export const inNamespaces = (): Network => {
  mkdirSync('/run/netns', { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', 'none', '/run/netns']); // the names are ours alone
  ip('link', 'set', 'lo', 'up');
  for (const link of LINKS) ip('addr', 'add', `${HOSTS[link]}/32`, 'dev', 'lo');
  for (let member = 0; member < MEMBER_COUNT; member++) {
    const space = spaceOf(member);
    ip('netns', 'add', space);
    ip('-n', space, 'link', 'set', 'lo', 'up');
    for (const link of LINKS) {
      const net = netOf(member, link);
      ip('link', 'add', hubEnd(member, link), 'type', 'veth', 'peer', 'name', link, 'netns', space);
      ip('addr', 'add', `${net}.1/24`, 'dev', hubEnd(member, link));
      ip('link', 'set', hubEnd(member, link), 'up');
      ip('-n', space, 'addr', 'add', `${net}.2/24`, 'dev', link);
      ip('-n', space, 'link', 'set', link, 'up');
      ip('-n', space, 'route', 'add', `${HOSTS[link]}/32`, 'via', `${net}.1`);
    }
  }
  return {
    kind: 'namespaces',
    webHost: HOSTS.web,
    storeHost: HOSTS.store,
    enter: (member) => ['nsenter', `--net=/run/netns/${spaceOf(member)}`],
    memberAt: (address) => {
      for (let member = 0; member < MEMBER_COUNT; member++)
        if (address.startsWith(`${netOf(member, 'web')}.`)) return member;
      return null;
    },
    cut: (member, links) => links.forEach((link) => ip('link', 'set', hubEnd(member, link), 'down')),
    mend: (member) => LINKS.forEach((link) => ip('link', 'set', hubEnd(member, link), 'up')),
  };
};
