/**
 * The addresses of a host name: by c-ares, which does not use the thread pool, and cached.
 *
 * A records are asked for first and AAAA only when there are none: one question for nearly every
 * name. Names of the hosts file and `localhost` are never asked for.
 */

import { Resolver, type RecordWithTtl } from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';

export type Found =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** `isGone`: there is no such name, or it has no address. Otherwise the name servers had trouble. */
  | { readonly kind: 'missing'; readonly detail: string; readonly isGone: boolean };

export interface Lookup {
  /** Answers at once when it knows, otherwise later, and always once. */
  find(host: string, answer: (found: Found) => void): void;
  /** When a name server last gave an address; before all time if none ever did. */
  foundAt(): number;
  /** Names that were missing may be found now. */
  forgetMissing(): void;
  close(): void;
}

export interface LookupOptions {
  readonly clock: Clock;
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly nameServers?: readonly string[] | undefined;
}

/** About 10 MB; the oldest goes first. */
export const NAMES_CACHED_MAX = 20_000;
/** Addresses kept of one name; a request does not try more anyway, but some may be refused. */
const ADDRESSES_KEPT_MAX = 8;
/** A shorter TTL would ask again for the page right after its robots.txt. */
const TTL_MS_MIN = 5_000;
/** With a longer TTL, requests would go on to an address that was given up. */
const TTL_MS_MAX = 3_600_000;
/** The name does not exist, or has no address. */
const MISSING_MS = 30_000;
/** The name servers had trouble: it may be over soon. */
const TROUBLE_MS = 5_000;
/** A DNS name has no more than 253 characters (RFC 1035). */
const NAME_LENGTH_MAX = 253;
/** One name server that does not answer: about 2 + 4 + 4 s. */
const RESOLVER = { timeout: 2_000, tries: 3, maxTimeout: 4_000 };

interface Known {
  readonly found: Found;
  readonly until: number;
}

/** Whether it is the address of one, with or without a port. */
export const isNameServer = (text: string): boolean => {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
};

export const createLookup = ({ clock, hosts, nameServers }: LookupOptions): Lookup => {
  const resolver = new Resolver(RESOLVER);
  if (nameServers !== undefined && nameServers.length > 0) resolver.setServers(nameServers);
  const known = new Map<string, Known>();
  const asked = new Map<string, ((found: Found) => void)[]>();
  let foundAt = -Infinity;

  const remember = (name: string, found: Found, forMs: number): void => {
    known.delete(name); // so that it becomes the youngest
    known.set(name, { found, until: clock.now() + forMs });
    if (known.size > NAMES_CACHED_MAX) known.delete(known.keys().next().value as string);
  };

  const ask = (name: string): void => {
    const settle = (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]): void => {
      const found = readRecords(error, records);
      if (found.kind === 'found') foundAt = clock.now();
      if (error?.code !== 'ECANCELLED') remember(name, found, keepMs(error, records));
      const answers = asked.get(name) ?? [];
      asked.delete(name);
      for (const answer of answers) answer(found);
    };
    query(
      () =>
        resolver.resolve4(name, { ttl: true }, (error, records) => {
          // NXDOMAIN holds for every type; only a name without A records may have AAAA ones.
          if (error?.code !== 'ENODATA') return settle(error, records);
          query(() => resolver.resolve6(name, { ttl: true }, settle), settle);
        }),
      settle,
    );
  };

  return {
    find(host, answer) {
      if (isIP(host) !== 0) return answer({ kind: 'found', addresses: [host] });
      const name = host.endsWith('.') ? host.slice(0, -1) : host;
      if (name === '' || name.length > NAME_LENGTH_MAX)
        return answer({ kind: 'missing', detail: 'EBADNAME', isGone: true });
      const own = hosts.get(name);
      if (own !== undefined) return answer({ kind: 'found', addresses: own });
      if (name === 'localhost' || name.endsWith('.localhost')) return answer(LOOPBACK);
      const former = known.get(name);
      if (former !== undefined && former.until > clock.now()) return answer(former.found);
      const waiting = asked.get(name);
      if (waiting !== undefined) return void waiting.push(answer);
      asked.set(name, [answer]);
      ask(name);
    },
    foundAt: () => foundAt,
    forgetMissing() {
      for (const [name, { found }] of known) if (found.kind === 'missing') known.delete(name);
    },
    close() {
      resolver.cancel();
      known.clear();
    },
  };
};

const LOOPBACK: Found = { kind: 'found', addresses: ['127.0.0.1', '::1'] }; // RFC 6761, 6.3

/** The resolver throws for names it cannot even ask for; to us that is a name without an address. */
const query = (send: () => void, settle: (error: NodeJS.ErrnoException, records: []) => void): void => {
  try {
    send();
  } catch (error) {
    settle(error as NodeJS.ErrnoException, []);
  }
};

const readRecords = (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]): Found => {
  if (error !== null)
    return { kind: 'missing', detail: error.code ?? error.message, isGone: LASTING.has(error.code ?? '') };
  if (records.length === 0) return { kind: 'missing', detail: 'ENODATA', isGone: true };
  return { kind: 'found', addresses: records.slice(0, ADDRESSES_KEPT_MAX).map((record) => record.address) };
};

const keepMs = (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]): number => {
  if (error !== null && !LASTING.has(error.code ?? '')) return TROUBLE_MS;
  if (error !== null || records.length === 0) return MISSING_MS;
  const ttlMs = Math.min(...records.map((record) => record.ttl)) * 1_000;
  return Math.min(Math.max(ttlMs, TTL_MS_MIN), TTL_MS_MAX);
};

const LASTING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
