/** What a chaos row can do to the store of its crawl; a store has the methods that make sense for it. */

export interface ChaosStore {
  /** The address of the store, the same for all members. */
  readonly url: string;
  /** kill -9 of a server, which is started again after that time. */
  readonly crash: (awayMs: number) => Promise<void>;
  /** A master or primary is killed when its replica is so far behind, and the replica takes its place. */
  readonly failOver?: (lagMs: number) => Promise<void>;
  /** A server is killed, and starts with what it had on disk so long before. */
  readonly goBack?: (byMs: number) => Promise<void>;
  /** For that time the server takes no writes. */
  readonly refuseWrites?: (ms: number) => Promise<void>;
  /** For that time the server has no connection left, and those that were there are ended. */
  readonly refuseConnections?: (ms: number) => Promise<void>;
  /** Moves slots of a cluster from a master to another; how many keys went with them. */
  readonly reshard?: (slots: number) => Promise<number>;
  /** Shuts the door to the store for a member's process, where its link cannot be cut. */
  readonly shut?: (pid: number) => void;
  readonly open?: () => void;
  readonly remove: () => Promise<void>;
}

export interface StorePlace {
  /** Where members find it. */
  readonly host: string;
  /** A folder for its files. */
  readonly dir: string;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
