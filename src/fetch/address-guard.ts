/** Is this address one of the public internet, or of a network that a person named? Everything else is refused. */

import { isIPv4, isIPv6 } from 'node:net';
import { createNetworkSet, readNetwork, type Network } from '../lib/network.ts';

// The IANA special-purpose registries for IPv4 and IPv6, without what is globally reachable.
const REFUSED_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network, unspecified
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // former 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Within 2000::/3, the only global unicast space; all outside it is refused anyway. */
const REFUSED_IPV6: readonly (readonly [string, number])[] = [
  ['2001:2::', 48], // benchmarking
  ['2001:10::', 28], // ORCHID
  ['2001:20::', 28], // ORCHIDv2
  ['2001:db8::', 32], // documentation
  ['3fff::', 20], // documentation
];

const isRefused = createNetworkSet([
  ...REFUSED_IPV4.map(([address, bits]): Network => ({ address, bits, family: 'ipv4' })),
  ...REFUSED_IPV6.map(([address, bits]): Network => ({ address, bits, family: 'ipv6' })),
]);

/** May this address be visited? */
export type AddressGuard = (address: string) => boolean;

/** `allow`: all addresses, none but public ones, or public ones and those of these networks. */
export const createAddressGuard = (allow: boolean | readonly string[]): AddressGuard => {
  if (allow === true) return () => true;
  const isAllowed = createNetworkSet((allow || []).flatMap((text) => readNetwork(text) ?? []));
  const mayVisitIPv4 = (address: string): boolean => !isRefused(address, 'ipv4') || isAllowed(address, 'ipv4');
  return (address) => {
    if (isIPv4(address)) return mayVisitIPv4(address);
    const groups = readGroups(address);
    if (groups === null) return false;
    // What a connection ends at counts: an IPv4 address inside is judged as one, whatever IPv6 networks are allowed.
    const inner = innerAddresses(groups);
    if (!inner.every(mayVisitIPv4)) return false;
    if (inner.length > 0 && isWrapper(groups)) return true;
    const isPublic = group(groups, 0) >> 13 === 1 && !isRefused(address, 'ipv6');
    return isPublic || isAllowed(address, 'ipv6');
  };
};

export const isPublicAddress: AddressGuard = createAddressGuard(false);

/** The eight 16-bit groups of an IPv6 address; null for anything else, one with a zone included. */
const readGroups = (address: string): readonly number[] | null => {
  if (!isIPv6(address) || address.includes('%')) return null;
  // The URL parser turns every way of writing it, dotted tails too, into groups of hex digits.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const before = hexGroups(head);
  const after = tail === undefined ? [] : hexGroups(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
};

const hexGroups = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((digits) => Number.parseInt(digits, 16));

const group = (groups: readonly number[], index: number): number => groups[index] ?? 0;

const ipv4At = (groups: readonly number[], index: number, mask = 0): string => {
  const high = group(groups, index) ^ mask;
  const low = group(groups, index + 1) ^ mask;
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
};

const startsWith = (groups: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((value, index) => groups[index] === value);

const MAPPED = [0, 0, 0, 0, 0, 0xffff];
const COMPATIBLE = [0, 0, 0, 0, 0, 0];
const NAT64 = [0x64, 0xff9b, 0, 0, 0, 0];

/** Forms outside 2000::/3 that are nothing but an IPv4 address: as good or bad as that. */
const isWrapper = (groups: readonly number[]): boolean =>
  startsWith(groups, MAPPED) || isCompatible(groups) || startsWith(groups, NAT64);

/** Not `::` and `::1`, which are addresses of their own (RFC 4291, 2.5.5.1). */
const isCompatible = (groups: readonly number[]): boolean =>
  startsWith(groups, COMPATIBLE) && (group(groups, 6) > 0 || group(groups, 7) > 1);

/** The IPv4 addresses that a connection to this IPv6 address may end at. */
const innerAddresses = (groups: readonly number[]): readonly string[] => {
  const inner: string[] = [];
  if (isWrapper(groups)) inner.push(ipv4At(groups, 6));
  if (groups[0] === 0x2002) inner.push(ipv4At(groups, 1)); // 6to4
  // Teredo: its server, and the client with all bits turned.
  if (groups[0] === 0x2001 && groups[1] === 0) inner.push(ipv4At(groups, 2), ipv4At(groups, 6, 0xffff));
  // ISATAP, within any prefix.
  if ((group(groups, 4) & 0xfdff) === 0 && groups[5] === 0x5efe) inner.push(ipv4At(groups, 6));
  return inner;
};
