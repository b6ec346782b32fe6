/** Rules that send requests for one host and port to another address, as curl's --connect-to. */

import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

export interface ConnectTo {
  /** Lower case, without brackets; empty for any host. */
  readonly host: string;
  /** Null for any port. */
  readonly port: number | null;
  /** An address or a name; empty keeps the host. */
  readonly address: string;
  /** Null keeps the port. */
  readonly toPort: number | null;
}

/** `HOST:PORT:ADDR:PORT`, each may be empty or `*`; IPv6 addresses in brackets. Null when it is not that. */
export const readConnectTo = (text: string): ConnectTo | null => {
  const found = RULE.exec(text.trim());
  if (found === null) return null;
  const [, fromHost = '', fromPort = '', toHost = '', toPort = ''] = found;
  const host = readHost(fromHost);
  const address = readHost(toHost);
  const ports = [readPort(fromPort), readPort(toPort)] as const;
  if (host === null || address === null || ports[0] === undefined || ports[1] === undefined) return null;
  return { host, port: ports[0], address, toPort: ports[1] };
};

const RULE = /^(\[[^\]]*\]|[^:[\]]*):(\d*|\*):(\[[^\]]*\]|[^:[\]]*):(\d*|\*)$/;

const readHost = (text: string): string | null => {
  if (text === '' || text === '*') return '';
  if (text.startsWith('[')) {
    const address = text.slice(1, -1);
    // The URL parser writes an IPv6 address in its one form, so that it meets those in URLs.
    return isIPv6(address) && !address.includes('%') ? bare(new URL(`http://${text}/`).hostname) : null;
  }
  const name = domainToASCII(text);
  return name === '' || /[\s/?#@]/.test(text) ? null : name;
};

const readPort = (text: string): number | null | undefined => {
  if (text === '' || text === '*') return null;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
};

/** A host without the brackets that an IPv6 address has in a URL. */
export const bare = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);

/** Where a request for this host and port goes. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** The address was named by a rule: it is allowed whatever it is. */
  readonly named: boolean;
}

/** The first rule that matches decides. */
export const targetOf = (rules: readonly ConnectTo[], host: string, port: number): Target => {
  for (const rule of rules) {
    if ((rule.host !== '' && rule.host !== host) || (rule.port !== null && rule.port !== port)) continue;
    return {
      host: rule.address === '' ? host : rule.address,
      port: rule.toPort ?? port,
      named: rule.address !== '',
    };
  }
  return { host, port, named: false };
};
