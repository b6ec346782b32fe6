/** The names that the machine's own hosts file gives addresses to; c-ares does not read it. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** Lists that block advertising have 100,000 lines; only they come near this. */
const HOSTS_BYTES_MAX = 8 * 1024 * 1024;

export const readHostsFile = (path = '/etc/hosts'): ReadonlyMap<string, readonly string[]> => {
  try {
    return readHosts(readFileSync(path, 'latin1').slice(0, HOSTS_BYTES_MAX));
  } catch {
    return new Map(); // a machine without one has no such names
  }
};

export const readHosts = (text: string): ReadonlyMap<string, readonly string[]> => {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [address]);
      else known.push(address);
    }
  }
  return hosts;
};
