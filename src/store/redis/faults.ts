/** What Redis and the way to it say, in words that tell a person what to do. Never with a password in them. */

import { StoreFault } from '../../contract/fault.ts';

/**
 * Answers that mean "not now", with the words for why: a server that starts, a failover, a cluster without one of its
 * nodes, a slot on the move. Nothing of what was asked has happened.
 */
const NOT_NOW: readonly (readonly [when: RegExp, why: string])[] = [
  [/^LOADING /, 'it is loading its data'],
  [/^BUSY /, 'a script of someone keeps it busy'],
  [/^READONLY /, 'it is a replica and takes no writes'],
  [/^UNBLOCKED /, 'it has become a replica'],
  [/^NOREPLICAS /, 'it has too few replicas and takes no writes'],
  [/^MASTERDOWN /, 'it is a replica whose master is gone'],
  [/^CLUSTERDOWN /, 'the cluster is not whole'],
  [/^(?:TRYAGAIN|MOVED|ASK) /, 'a part of the cluster is on the move'],
  // The keys of a step lie partly here and partly at another node.
  [/attempted to access a non local key/, 'a part of the cluster is on the move'],
  [/max number of clients reached/, 'it has too many clients'],
];

const notNow = (error: Error): string | null =>
  isReply(error) ? (NOT_NOW.find(([when]) => when.test(error.message))?.[1] ?? null) : null;

/** Redis itself refused; anything else is the way to it. */
const isReply = (error: Error): boolean => error.name === 'ReplyError';

/** What answers does not speak the protocol; the client then says that it cannot read it. */
const isForeign = (error: Error): boolean => error.message.startsWith('Unknown RESP type');

/** The server is not there, or not now: what was asked may be asked again. */
export const isGone = (error: Error): boolean =>
  isReply(error) ? notNow(error) !== null : !isForeign(error) && sentinelFault(error) === null;

/** What answers was a master and is a replica now: another one is the master, or will be. */
export const isDemoted = ({ message }: Error): boolean => /^(?:READONLY|UNBLOCKED) /.test(message);

/**
 * What a connection said last about itself. A call that fails only knows that it could not be sent; why is said here. A
 * refusal (of a password, of a database) is not forgotten for what follows from it.
 */
export const lastWords = (): { hear(error: Error): void; words(): Error | null; forget(): void } => {
  let last: Error | null = null;
  return {
    hear: (error) => {
      if ((last === null || isGone(last)) && !error.message.startsWith("Stream isn't writeable")) last = error;
    },
    words: () => last,
    forget: () => void (last = null),
  };
};

/** The few words for why it is gone. */
export const goneBecause = (error: Error): string => {
  if (/^All sentinels are unreachable/.test(error.message)) return 'no Sentinel answers';
  const { code } = error as { code?: string };
  return notNow(error) ?? code ?? error.message.replace(/\.$/, '');
};

/** What a Sentinel said that a person must fix; null when it is only not there. */
const sentinelFault = ({ message }: Error): readonly [says: string, advice: string] | null => {
  if (/^(?:connected|failed to connect) to sentinel .* (?:invalid reply: null|No such master)/.test(message))
    return ['is not known to its Sentinels', 'look at the name of the master, which follows the hosts in the URL'];
  if (/^failed to connect to sentinel .* because (?:NOAUTH|WRONGPASS|NOPERM|ERR AUTH)/.test(message))
    return [
      'has Sentinels that refuse the user or the password',
      'theirs are given apart: ?sentinel_user=…&sentinel_password=… at the end of the URL',
    ];
  return null;
};

export const replicaFault = (where: string): StoreFault =>
  new StoreFault(
    `Redis at ${where} is read-only, a replica`,
    'give the address of its master; or, where Sentinels watch over it, theirs: redis+sentinel://host:port,host:port/master',
  );

/** Codes of OpenSSL and Node for a certificate that proves nothing to us. */
const UNTRUSTED = /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

/** A server that never came to an answer; with TLS, that may be why. */
export const unanswered = (last: Error, isSecure: boolean, where: string): StoreFault => {
  const why = goneBecause(last);
  if (UNTRUSTED.test(why))
    return new StoreFault(
      `the certificate of Redis at ${where} is not trusted (${why})`,
      'put the certificate of who signed it into a file, name that by --store-ca FILE, and write the host that it is for',
    );
  // One without TLS waits for the rest of a command, or ends the connection.
  if (isSecure && why !== 'ECONNREFUSED' && why !== 'ENOTFOUND')
    return new StoreFault(
      `Redis at ${where} does not begin TLS (${why})`,
      'see that it runs and has TLS at this port; for one without TLS, write redis://',
    );
  return new StoreFault(
    `Redis at ${where} does not answer (${why})`,
    `see that it runs and that the URL of the store is right${isSecure ? '' : '; for a port with TLS, write rediss://'}`,
  );
};

const FAULTS: readonly { readonly when: RegExp; readonly says: string; readonly advice: string }[] = [
  {
    when: /^(WRONGPASS|NOAUTH|ERR (invalid password|AUTH))|client sent AUTH/i,
    says: 'refuses the user or the password',
    advice:
      'give the right ones in the URL of the store; a configuration file or the environment keeps them off the command line',
  },
  {
    when: /^NOPERM/,
    says: 'does not allow this user what a crawl needs',
    advice: 'allow the user all commands on the keys of the crawl (ACL SETUSER)',
  },
  {
    when: /DB index|invalid DB|SELECT is not allowed/i,
    says: 'does not have the database of the URL',
    advice: 'give a number that it has; a cluster has only 0',
  },
  {
    when: /^OOM/,
    says: 'is full and takes nothing more',
    advice: 'raise its maxmemory, then resume: what it has taken is kept',
  },
  {
    when: /^MISCONF/,
    says: 'cannot write to its disk and so takes nothing more',
    advice: 'free space on its disk (its log says more), then resume',
  },
];

export const redisFault = (error: unknown, where: string): StoreFault => {
  if (error instanceof StoreFault) return error;
  const { name, message } = error as Error;
  // The client's own error carries the command, and with it the password: only its words go on.
  const cause = new Error(`${name}: ${message}`);
  if (isForeign(error as Error))
    return new StoreFault(
      `what answers at ${where} is not a Redis`,
      'see that host and port in the URL of the store are right',
      cause,
    );
  const bySentinel = sentinelFault(error as Error);
  if (bySentinel) return new StoreFault(`Redis at ${where} ${bySentinel[0]}`, bySentinel[1], cause);
  const known = FAULTS.find(({ when }) => when.test(message));
  if (known) return new StoreFault(`Redis at ${where} ${known.says}`, known.advice, cause);
  return new StoreFault(`Redis at ${where} failed: ${message}`, 'this is a defect: please report it', cause);
};

export const closedFault = (): StoreFault => new StoreFault('the store is closed', 'open the crawl again');
