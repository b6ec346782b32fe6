/** What PostgreSQL, the network and the archive say, in words that tell a person what to do. */

import { StoreFault } from '../../contract/fault.ts';

/** PostgreSQL's codes (appendix A of its manual) of what a person can fix. */
const FAULTS: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  '28P01': [
    'PostgreSQL refuses the password',
    'look at the user and the password in the address of the store, or in PGPASSWORD',
  ],
  '28000': [
    'PostgreSQL refuses this user',
    'look at the user in the address of the store, and at pg_hba.conf of the server; if it asks for encryption, write sslmode=verify-full in the address',
  ],
  '3D000': ['there is no such database', 'create it with CREATE DATABASE, or correct the address of the store'],
  '42501': [
    'this user may not do what the store needs',
    'grant it CREATE on the database, or let it own the tables of the crawl',
  ],
  '53100': ['the disk of the PostgreSQL server is full', 'free space there, then resume'],
  '53200': ['the PostgreSQL server is out of memory', 'give it more, or lower its settings, then resume'],
  '53300': [
    'the PostgreSQL server has too many connections',
    'end others, or raise max_connections: a process of a crawl takes four',
  ],
  '25006': [
    'the PostgreSQL server takes no writes',
    'give the address of the primary server, not of a standby, or those of all of them: postgres://user@host:port,host:port/database',
  ],
  '57014': ['the PostgreSQL server cancelled a call', 'lift statement_timeout and lock_timeout for this user'],
  '55P03': ['the PostgreSQL server gave up waiting for a lock', 'lift lock_timeout for this user'],
  '57P04': ['the database was dropped', 'restore it, or start the crawl anew'],
  XX001: ['a table of the crawl is damaged', 'restore the database from a copy'],
  XX002: ['an index of the crawl is damaged', 'REINDEX the schema of the crawl'],
  GS001: ['another process has opened this directory of the crawl since', 'let one process work on a directory'],
  GS002: ['another move to this crawl has begun since, or has ended', 'run one at a time'],
};

/** Codes of OpenSSL and Node for a certificate that proves nothing to us. */
const UNTRUSTED = /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

/** Codes of a call that did not happen and may be made again at once: two transactions stood in each other's way. */
const AGAIN = /^(?:40001|40P01|23505)$/;

/** The server goes down or comes up: connections end, and it may be a moment before new ones are taken. */
const GONE =
  /^(?:57P0[1235]|25P03|0800[01346]|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NETDOWN|CONNABORTED|AI_AGAIN|NOTFOUND))$/;

/** PostgreSQL's code for a server, or a session, that takes no writes. */
export const READ_ONLY = '25006';

/** It answers, but not now, and nothing was done: a standby during a failover, or one without a free connection. */
const NOT_NOW: Readonly<Record<string, string>> = {
  [READ_ONLY]: 'takes no writes, as a standby does',
  '53300': 'has no free connection',
};

/** The client's own words for a connection that ended; they come without a code. */
const GONE_WORDS = /connection terminated|timeout|not queryable|connection error|socket/i;

export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};

/** `gone`: nobody knows whether the call happened. `not-now`: it did not, and may be made again after a while. */
export const troubleOf = (error: unknown): 'gone' | 'not-now' | 'again' | 'fault' => {
  if (error instanceof StoreFault) return 'fault';
  const code = codeOf(error);
  if (code in NOT_NOW) return 'not-now';
  if (AGAIN.test(code)) return 'again';
  return GONE.test(code) || (code === '' && error instanceof Error && GONE_WORDS.test(error.message))
    ? 'gone'
    : 'fault';
};

/** A server that is starting says so, and will be there. */
export const isStarting = (error: unknown): boolean => codeOf(error) === '57P03';

/** Why it does not answer, for a sentence. */
export const reasonOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code in NOT_NOW) return NOT_NOW[code]!;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name is not known';
  return error instanceof Error && error.message !== '' ? error.message : code;
};

/** `where` is host and port; the address itself has a password in it and is never told. */
export const storeFault = (error: unknown, where = ''): StoreFault => {
  if (error instanceof StoreFault) return error;
  const { message, advice } = error as { message: string; advice?: string };
  if (advice !== undefined) return new StoreFault(message, advice, error); // the archive's
  const code = codeOf(error);
  const at = where === '' ? '' : ` (PostgreSQL at ${where})`;
  const known = FAULTS[code];
  if (known) return new StoreFault(`${known[0]}${at}: ${message}`, known[1], error);
  if (/client password must be a string/.test(message))
    return new StoreFault(
      `PostgreSQL asks for a password${at}`,
      'put it into the address of the store in the variable GOSSAMER_STORE, or into PGPASSWORD',
      error,
    );
  if (/server does not support SSL/.test(message))
    return new StoreFault(
      `PostgreSQL at ${where} has no TLS`,
      'set ssl = on there; or, where the way to it is your own, write sslmode=disable in the address of the store',
      error,
    );
  if (UNTRUSTED.test(code))
    return new StoreFault(
      `the certificate of PostgreSQL at ${where} is not trusted (${code})`,
      'put the certificate of who signed it into a file, name that by --store-ca FILE, or by sslrootcert=FILE in the address of the store, and write the host that it is for',
      error,
    );
  if ((error as { syscall?: string }).syscall === 'open')
    return new StoreFault(
      `a file that the address of the store names cannot be read: ${message}`,
      'look at --store-ca, and at sslrootcert, sslcert and sslkey in the address',
      error,
    );
  const advised = code === '' ? 'this is a defect: please report it' : `PostgreSQL says ${code}`;
  return new StoreFault(`the store failed${at}: ${message}`, advised, error);
};
