/** What the verbs of one open store share: the server, who they are, and hints of what is due. */

import type { Archive } from '../../archive/archive.ts';
import type { StoreFault } from '../../contract/fault.ts';
import type { Server } from './connect.ts';
import type { DueHints } from './due-hints.ts';

export interface Session {
  readonly server: Server;
  readonly member: string;
  /** Counts the openings of this member; calls of an earlier one are refused. */
  readonly run: number;
  readonly shards: number;
  readonly archive: Archive;
  readonly dueHints: DueHints;
  /** The time handed in; null for the server's own. */
  at(): number | null;
  /** The server's time as far as it is known here; good for hints. */
  roughly(): number;
  /** Takes note of what time it was on the server a moment ago. */
  heard(serverMs: number): void;
  /** The number of the last batch of settlements. */
  batch: number;
  /** Why no more can be settled: it is not known how the last batch ended. */
  broken: StoreFault | null;
}
