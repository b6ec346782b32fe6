/** What Redis and the way to it say, in words that tell a person what to do. Never with a password in them. */

import { StoreFault } from '../../contract/fault.ts';

/** Answers that mean "not now": a server that starts, a cluster without one of its nodes, a slot on the move. */
const NOT_NOW = ['LOADING', 'BUSY', 'CLUSTERDOWN', 'TRYAGAIN', 'MASTERDOWN', 'MOVED', 'ASK'];

const codeOf = (error: Error): string => error.message.split(' ', 1)[0]!;

/** Redis itself refused; anything else is the way to it. */
const isReply = (error: Error): boolean => error.name === 'ReplyError';

/** What answers does not speak the protocol; the client then says that it cannot read it. */
const isForeign = (error: Error): boolean => error.message.startsWith('Unknown RESP type');

/** The server is not there, or not now: what was asked may be asked again. */
export const isGone = (error: Error): boolean => (isReply(error) ? NOT_NOW.includes(codeOf(error)) : !isForeign(error));

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
  const { code } = error as { code?: string };
  return code ?? error.message.replace(/\.$/, '');
};

/** Codes of OpenSSL and Node for a certificate that proves nothing to us. */
const UNTRUSTED = /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

/** A server that never came to an answer; with TLS, that may be why. */
export const unanswered = (last: Error, isSecure: boolean, where: string): StoreFault => {
  const why = goneBecause(last);
  if (UNTRUSTED.test(why))
    return new StoreFault(
      `the certificate of Redis at ${where} is not trusted (${why})`,
      'put the certificate of who signed it into a file, name that in the variable NODE_EXTRA_CA_CERTS, and write the host that it is for',
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
  { when: /^READONLY/, says: 'is read-only, a replica', advice: 'give the address of its master' },
  {
    when: /^MISCONF/,
    says: 'cannot write to its disk and so takes nothing more',
    advice: 'free space on its disk (its log says more), then resume',
  },
  { when: /^NOREPLICAS/, says: 'has too few replicas and takes nothing', advice: 'start its replicas, then resume' },
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
  const known = FAULTS.find(({ when }) => when.test(message));
  if (known) return new StoreFault(`Redis at ${where} ${known.says}`, known.advice, cause);
  return new StoreFault(`Redis at ${where} failed: ${message}`, 'this is a defect: please report it', cause);
};

export const closedFault = (): StoreFault => new StoreFault('the store is closed', 'open the crawl again');
