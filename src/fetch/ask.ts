/** Can a name be found, or a connection be made? Asked of origins that answered before, and no request is sent. */

import { Resolver } from 'node:dns';
import { connect, isIP } from 'node:net';
import { targetOf, type ConnectTo } from './connect-to.ts';

/** Whoever does not answer within this time counts as not to be reached. */
const ASK_MS = 5_000;

export interface AskParts {
  readonly connectTo: readonly ConnectTo[];
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly nameServers: readonly string[];
}

export interface Asker {
  /** True as well where no name server is needed to find it. */
  name(origin: string): Promise<boolean>;
  connection(origin: string): Promise<boolean>;
}

export const createAsker = ({ connectTo, hosts, nameServers }: AskParts): Asker => {
  const target = (origin: string): { host: string; port: number } => {
    const { protocol, hostname, port } = new URL(origin);
    return targetOf(connectTo, hostname.replace(/^\[|\]$/g, ''), Number(port) || (protocol === 'https:' ? 443 : 80));
  };
  const ownAddress = (host: string): string | undefined => {
    if (isIP(host) !== 0) return host;
    return host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : hosts.get(host)?.[0];
  };
  /** With a resolver of its own, which remembers nothing. */
  const addressOf = async (host: string): Promise<string | undefined> => {
    const known = ownAddress(host);
    if (known !== undefined) return known;
    const resolver = new Resolver({ timeout: ASK_MS, tries: 1 });
    if (nameServers.length > 0) resolver.setServers(nameServers);
    const find = (how: 'resolve4' | 'resolve6'): Promise<string | undefined> =>
      new Promise((resolve) => resolver[how](host, (error, addresses) => resolve(error ? undefined : addresses[0])));
    return (await find('resolve4')) ?? (await find('resolve6'));
  };
  return {
    name: async (origin) => (await addressOf(target(origin).host)) !== undefined,
    connection: async (origin) => {
      const { host, port } = target(origin);
      const address = await addressOf(host);
      return address !== undefined && canConnect(address, port);
    },
  };
};

const canConnect = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ASK_MS });
    const end = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
