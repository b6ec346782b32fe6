/**
 * The ceiling on open sockets, the line of calls that wait for one, and the connections kept.
 *
 * At most one connection is kept per origin. Kept ones count as open and make room, the oldest
 * first, as soon as a call needs their place. Places are given in the order they were asked for.
 */

import { Connection, type ConnectionUser, type Dial } from './connection.ts';
import type { Deadlines } from './deadlines.ts';

export interface Claimant {
  /** There is room for one socket now, and it must be opened at once. */
  granted(): void;
}

export interface Connections {
  /** The connection kept for this origin, if there is one. */
  take(origin: string, user: ConnectionUser): Connection | null;
  ask(claimant: Claimant): void;
  leave(claimant: Claimant): void;
  open(dial: Dial, user: ConnectionUser): Connection;
  /** Keep it until then for the next call to its origin; it may be closed sooner. */
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
  const line = new Set<Claimant>();
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
    moveUp();
  };
  const gone = (connection: Connection): void => {
    alive.delete(connection);
    if (alive.size === 0) lastGone?.();
  };
  const owner = { ended, gone };
  const moveUp = (): void => {
    for (const claimant of line) {
      if (open >= socketsMax || lastGone !== null) return;
      line.delete(claimant);
      claimant.granted();
    }
  };
  const unkeep = (connection: Connection): void => {
    kept.delete(connection.dial.origin);
    deadlines.idle.delete(connection);
  };

  return {
    take(origin, user) {
      const connection = kept.get(origin);
      if (connection === undefined) return null;
      unkeep(connection);
      connection.wake(user);
      return connection;
    },
    ask(claimant) {
      line.add(claimant);
      if (open >= socketsMax)
        kept.values().next().value?.end(); // its end moves the line up
      else moveUp();
    },
    leave: (claimant) => void line.delete(claimant),
    open(dial, user) {
      const connection = new Connection(dial, user, owner);
      alive.add(connection);
      open++;
      if (dial.tls !== null) secure++;
      onSockets(open - secure, secure);
      return connection;
    },
    keep(connection, until) {
      // Order matters: whoever waits has the place, before it is kept for a call that may never come.
      if (line.size > 0 || lastGone !== null || !connection.isOpen) return connection.end();
      kept.get(connection.dial.origin)?.end();
      connection.rest();
      connection.deadlineAt = until;
      kept.set(connection.dial.origin, connection);
      deadlines.idle.add(connection);
      deadlines.watch();
    },
    counts: () => ({ http: open - secure, https: secure, kept: kept.size, waiting: line.size }),
    close: () =>
      new Promise((resolve) => {
        lastGone = resolve;
        for (const connection of alive) connection.end();
        if (alive.size === 0) resolve();
      }),
  };
};
