/**
 * TLS sessions of the hosts that were visited last. With one a handshake is shorter for both sides: no certificate
 * is sent, and the server, whose share is the larger, signs nothing.
 */

export interface TlsSessions {
  /** What to offer to this host, if there is anything. */
  of(origin: string): Buffer | undefined;
  keep(origin: string, session: Buffer): void;
  /** A handshake in which one was offered came to nothing: this host gets no offers any more. */
  distrust(origin: string): void;
}

/** Some 3,000 to 8,000 hosts, whatever the crawl has seen. */
const BYTES_MAX = 8 * 1024 ** 2;
/** What an entry takes besides its name and its session. */
const ENTRY_BYTES = 200;

export const createTlsSessions = (bytesMax = BYTES_MAX): TlsSessions => {
  const sessions = new Map<string, Buffer | null>(); // null where none is offered; the one used longest ago is first
  let bytes = 0;

  const remove = (origin: string): void => {
    const session = sessions.get(origin);
    if (session === undefined) return;
    bytes -= sizeOf(origin, session);
    sessions.delete(origin);
  };
  const put = (origin: string, session: Buffer | null): void => {
    remove(origin);
    sessions.set(origin, session);
    bytes += sizeOf(origin, session);
    for (const oldest of sessions.keys()) {
      if (bytes <= bytesMax) return;
      remove(oldest);
    }
  };

  return {
    of(origin) {
      const session = sessions.get(origin);
      if (session !== undefined) put(origin, session); // used now
      return session ?? undefined;
    },
    keep(origin, session) {
      if (sessions.get(origin) !== null) put(origin, session);
    },
    distrust: (origin) => put(origin, null),
  };
};

const sizeOf = (origin: string, session: Buffer | null): number => ENTRY_BYTES + origin.length + (session?.length ?? 0);
