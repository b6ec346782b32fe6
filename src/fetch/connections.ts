/**
 * The ceiling on open sockets, the queue of requests that wait for one, and the connections kept.
 *
 * At most one connection is kept per origin. Kept ones count as open and make room, the oldest
 * first, as soon as a request needs a socket. Sockets are given in the order they were asked for.
 */

import { Connection, type ConnectionUser, type Dial } from './connection.ts';
import type { Deadlines } from './deadlines.ts';

export interface Claimant {
  /** There is room for one socket now, and it must be opened at once. */
  granted(): void;
}

export interface Connections {
  /** The connection kept for this origin, if there is one that was made in this way. */
  take(dial: Pick<Dial, 'origin' | 'tls'>, user: ConnectionUser): Connection | null;
  ask(claimant: Claimant): void;
  /** The claimant does not wait for a socket any more. */
  withdraw(claimant: Claimant): void;
  open(dial: Dial, user: ConnectionUser): Connection;
  /** Keeps the connection until then for the next request to its origin; it may be closed sooner. */
  keep(connection: Connection, until: number): void;
  counts(): { http: number; https: number; kept: number; waiting: number };
  /** Closes what is kept, and resolves when every socket ever opened is closed. */
  close(): Promise<void>;
}

/** Told of the open sockets whenever their number has changed. */
export type OnSockets = (http: number, https: number) => void;

export const createConnections = (
  socketsMax: number,
  deadlines: Deadlines,
  onSockets: OnSockets = () => {},
): Connections => {
  const kept = new Map<string, Connection>(); // the oldest first
  const queue = new Set<Claimant>();
  const alive = new Set<Connection>(); // open, or not yet quite gone
  let open = 0;
  let secure = 0;
  let lastGone: (() => void) | null = null;

  const ended = (connection: Connection): void => {
    open--;
    if (connection.dial.tls !== null) secure--;
    onSockets(open - secure, secure);
    if (kept.get(connection.dial.origin) === connection) kept.delete(connection.dial.origin);
    deadlines.idle.delete(connection);
    moveOn();
  };
  const gone = (connection: Connection): void => {
    alive.delete(connection);
    if (alive.size === 0) lastGone?.();
  };
  const owner = { ended, gone };
  const moveOn = (): void => {
    for (const claimant of queue) {
      if (open >= socketsMax || lastGone !== null) return;
      queue.delete(claimant);
      claimant.granted();
    }
  };
  const unkeep = (connection: Connection): void => {
    kept.delete(connection.dial.origin);
    deadlines.idle.delete(connection);
  };

  return {
    take({ origin, tls }, user) {
      const connection = kept.get(origin);
      // One that was made without looking at its certificate is none for who asks for that.
      if (connection === undefined || connection.dial.tls !== tls) return null;
      unkeep(connection);
      connection.wake(user);
      return connection;
    },
    ask(claimant) {
      queue.add(claimant);
      if (open >= socketsMax)
        kept.values().next().value?.end(); // its end moves the queue on
      else moveOn();
    },
    withdraw: (claimant) => void queue.delete(claimant),
    open(dial, user) {
      const connection = new Connection(dial, user, owner);
      alive.add(connection);
      open++;
      if (dial.tls !== null) secure++;
      onSockets(open - secure, secure);
      return connection;
    },
    keep(connection, until) {
      // Order matters: whoever waits gets the socket, before it is kept for a request that may never come.
      if (queue.size > 0 || lastGone !== null || !connection.isOpen) return connection.end();
      kept.get(connection.dial.origin)?.end();
      connection.rest();
      connection.deadlineAt = until;
      kept.set(connection.dial.origin, connection);
      deadlines.idle.add(connection);
      deadlines.watch();
    },
    counts: () => ({ http: open - secure, https: secure, kept: kept.size, waiting: queue.size }),
    close: () =>
      new Promise((resolve) => {
        lastGone = resolve;
        for (const connection of alive) connection.end();
        if (alive.size === 0) resolve();
      }),
  };
};
