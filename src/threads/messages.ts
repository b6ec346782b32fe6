/** What threads say to each other. Plain data; ports and shared memory travel with it. */

import type { MessagePort } from 'node:worker_threads';
import type { Anchor } from '../lib/clock.ts';
import type { SharedFingerprints } from '../lib/fingerprint-table.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import type { Settings } from '../model/settings.ts';
import type { Activity } from '../observe/activity.ts';
import type { Fields } from '../observe/log.ts';
import type { StorePlace } from '../store/options.ts';
import type { SharedHomes } from '../url/homes.ts';
import type { SharedPulse } from '../visit/pulse.ts';
import type { Fault } from './fault.ts';

/** What every thread is started with. */
export interface ThreadStart {
  readonly name: string;
  /** See heart.ts. */
  readonly heart: SharedArrayBuffer;
  /** The numbers of this thread and of those of its name before it: see observe/metrics/cells.ts. */
  readonly cells: SharedArrayBuffer;
  readonly settings: Settings;
  readonly dir: string;
  /** What goes into headers and warcinfo records. */
  readonly userAgent: string;
  readonly productToken: string;
  /** The id of the warcinfo record that the records of this process name. */
  readonly warcinfoId: string;
  /** The version of this program, for the ledger. */
  readonly version: string;
  /** A line for every visit. */
  readonly logPages: boolean;
  /** Somebody looks at the last pages and sites: fetch threads tell of them. */
  readonly watched?: boolean;
  /** The store that the store thread opens. */
  readonly store: StorePlace;
  /** Where processes share the store: what its thread notes of its beats (visit/pulse.ts). */
  readonly pulse: SharedPulse | null;
}

export interface FetchStart extends ThreadStart {
  readonly anchor: Anchor;
  readonly shards: readonly number[];
  /** The last entry of the crawl's journal that the settings have in them. */
  readonly number: number;
  /** Where the seeds are at home; null when everything linked is wanted. */
  readonly homes: SharedHomes | null;
  readonly excluded: SharedFingerprints | null;
  /** The name of the scope that these make. */
  readonly scopeName: string;
  /** Origins that answered in earlier runs. */
  readonly answered: readonly string[];
  /** What to log in with: given to fetch threads alone, and only in memory. */
  readonly credentials?: SecretHeaders | null;
  /** Shared memory: while it is not 0, nothing is claimed. */
  readonly held: Int32Array;
}

/** What follows from the settings and lists of the crawl: it may change while threads run. */
export type SettingsNow = Pick<
  FetchStart,
  'settings' | 'userAgent' | 'productToken' | 'homes' | 'excluded' | 'scopeName' | 'number'
>;

export type ToStoreThread =
  /** With the name of the thread at the other end, and the memory for its numbers. */
  | { readonly kind: 'client'; readonly port: MessagePort; readonly name: string; readonly cells: SharedArrayBuffer }
  /** Pages were read again for links that the store had forgotten. */
  | { readonly kind: 'reread-done' }
  /** Close the store; with `free`, first free all leases without counting the tries. */
  | { readonly kind: 'close'; readonly free: boolean };

export type FromStoreThread =
  /** `forgotSince` as the store says (store/options.ts). */
  | { readonly kind: 'opened'; readonly anchor: Anchor; readonly forgotSince: number | null }
  | { readonly kind: 'closed' }
  | { readonly kind: 'log'; readonly level: 'warn' | 'info'; readonly message: string; readonly fields?: Fields }
  | { readonly kind: 'fault'; readonly fault: Fault };

export type ToFetchThread =
  | { readonly kind: 'store'; readonly port: MessagePort }
  | { readonly kind: 'parser'; readonly name: string; readonly port: MessagePort }
  /** A parse thread died; `lease` is that of the job it was working on, 0 for none. */
  | { readonly kind: 'parser-gone'; readonly name: string; readonly lease: number }
  /** Homes that are known by now. */
  | { readonly kind: 'homes'; readonly shared: SharedHomes }
  /** What was asked for by a message `home` has been done, and all were told of it. */
  | { readonly kind: 'home-known'; readonly id: number }
  /** For all visits that begin from now on. */
  | { readonly kind: 'settings'; readonly now: SettingsNow }
  /** No new visits; those under way have so long to end. */
  | { readonly kind: 'stop'; readonly graceMs: number };

export type FromFetchThread =
  | { readonly kind: 'log'; readonly level: 'warn' | 'debug'; readonly message: string; readonly fields?: Fields }
  | { readonly kind: 'fault'; readonly fault: Fault }
  /** A seed has moved; empty texts ask for what others have found meanwhile. */
  | { readonly kind: 'home'; readonly id: number; readonly from: string; readonly to: string }
  /** A claim was answered with a newer number than that of the settings here. */
  | { readonly kind: 'entry'; readonly number: number }
  /** One of the first sites that answered: whoever takes this thread's place should know of it. */
  | { readonly kind: 'answered'; readonly origin: string }
  /** Some times a second, if the crawl is watched. */
  | { readonly kind: 'activity'; readonly activity: Activity };

export type ToParseThread =
  | { readonly kind: 'client'; readonly port: MessagePort }
  /** For all pages that come from now on. */
  | { readonly kind: 'settings'; readonly now: Pick<SettingsNow, 'settings' | 'productToken'> };
