/** Networks as people write them: an address with the number of its fixed bits, such as 10.1.0.0/16 or fd00::/8. */

import { BlockList, isIPv4, isIPv6 } from 'node:net';

export interface Network {
  readonly address: string;
  /** How many of its first bits are fixed. */
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** An address alone is a network of one. Null when it is neither, or has a zone. */
export const readNetwork = (text: string): Network | null => {
  const [, address = '', written] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
  if (family === null) return null;
  const most = family === 'ipv4' ? 32 : 128;
  const bits = written === undefined ? most : Number(written);
  return bits > most ? null : { address, bits, family };
};

/** Whether an IPv6 network consists of mapped IPv4 addresses, such as ::ffff:10.0.0.0/104. */
export const isMapped = ({ address, bits, family }: Network): boolean =>
  family === 'ipv6' && bits >= MAPPED_BITS && new URL(`http://[${address}]/`).hostname.startsWith('[::ffff:');

/** The bits of an IPv6 address that come before an IPv4 address mapped into it. */
const MAPPED_BITS = 96;

/** Whether an address of this family is in one of these networks. */
export const createNetworkSet = (
  networks: readonly Network[],
): ((address: string, family: Network['family']) => boolean) => {
  // A list for each: one list would take a mapped IPv4 address for an address of both families.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, bits, family } of networks) lists[family].addSubnet(address, bits, family);
  return (address, family) => lists[family].check(address, family);
};
