/** What a run is started with, and what can be asked of it while it goes on. */

import type { SettledWork } from '../contract/settled-work.ts';
import type { Admitted } from '../contract/store.ts';
import type { CrawlChange } from '../model/crawl-change.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import type { Link } from '../model/link.ts';
import type { Settings } from '../model/settings.ts';
import type { Log } from '../observe/log.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { StorePlace } from '../store/options.ts';
import type { SupervisorOptions } from '../threads/supervisor.ts';
import type { RunEnd } from './run-end.ts';

export interface RunOptions {
  readonly dir: string;
  readonly settings: Settings;
  readonly store: StorePlace;
  /** Set for one that joined a crawl. */
  readonly member?: string | undefined;
  readonly log: Log;
  /** What is written to the journal of the crawl before the run begins. */
  readonly change?: CrawlChange | null;
  readonly retryParked?: boolean;
  /** What to log in with; in memory alone. */
  readonly credentials?: SecretHeaders | null;
  /** A line in the log for every visit. */
  readonly logPages?: boolean;
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** Snapshots tell of the last pages and sites, too. */
  readonly watched?: boolean;
  /** Told where --metrics is served. */
  readonly onMetrics?: (url: string) => void;
  readonly entries?: SupervisorOptions['entries'];
  /** What is done with settled pages before the run ends. */
  readonly settledWork?: SettledWork | undefined;
}

export interface Run {
  readonly ended: Promise<RunEnd>;
  snapshot(): Snapshot;
  /** All metrics, in the text format of Prometheus. */
  metrics(): string;
  /** No new visits; those under way end. */
  stop(): void;
  /** At once; nothing that is settled is lost, and what is not is fetched again. */
  halt(): void;
  /**
   * Takes links in beside those that pages bring; what resolves is in the store. They are asked for when the seeds are
   * loaded.
   */
  admit(links: () => readonly Link[]): Promise<Admitted>;
  /** Adds seeds; rejects with a UsageError when one is bad, and has then changed nothing. */
  add(seeds: readonly string[]): Promise<Admitted>;
  /** Whether no more visits are begun. */
  isEnding(): boolean;
}
