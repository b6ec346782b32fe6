/** The store thread: keeps the truth and appends the archive, in one order. */

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Archive } from '../archive/archive.ts';
import { addDead } from '../archive/dead-list.ts';
import { openArchive } from '../archive/files.ts';
import { warcinfoRecord } from '../archive/records.ts';
import type { Store } from '../contract/store.ts';
import { anchorTo, monotonicMs, wallMs, type Anchor } from '../lib/clock.ts';
import { writeDuration } from '../lib/units.ts';
import type { ArchiveEnd } from '../model/census.ts';
import { kindOf } from '../store/address.ts';
import { openStore } from '../store/open.ts';
import type { DeadCause, OpenedStore } from '../store/options.ts';
import { openPulse } from '../visit/pulse.ts';
import { toFault } from './fault.ts';
import type { FromStoreThread, ThreadStart, ToStoreThread } from './messages.ts';
import { openClientMeter, openStoreTimes, watchConnections } from './store-meter.ts';
import { openVitals } from './vitals.ts';
import { startBeating } from './beating.ts';
import { createStoreServer, type OnSlow, type StoreServer } from './store-server.ts';

const start = workerData as ThreadStart;
const main = parentPort!;
const tell = (message: FromStoreThread): void => main.postMessage(message);

/** How often the clock of a server is looked at: clocks drift apart by milliseconds in that time. */
const FOLLOW_MS = 60_000;

const storeKind = kindOf(start.store.url);
const onTime = openStoreTimes(start.cells, storeKind);

const stamp = (atMs: number): string => new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14);

const archiveFrom = (settled: ArchiveEnd): Archive =>
  openArchive({
    dir: join(start.dir, 'warc'),
    settled,
    // Files of several members may come together in one place: each has its own names.
    stamp: () => `${stamp(Date.now())}-${start.store.member.slice(0, 8)}`,
    warcinfoId: start.warcinfoId,
    warcinfo: (fileName, id) =>
      warcinfoRecord({
        id,
        fileName,
        at: Date.now(),
        software: `Gossamer/${start.version}`, // whatever it calls itself to sites
        operator: start.settings.email,
        userAgent: start.userAgent,
        robots: 'classic', // obeyed, in the words of WARC
        tlsVerification: start.settings.verifyTls ? 'required' : 'none',
      }),
  });

const onSlow: OnSlow = (verbs, tookMs) =>
  tell({
    kind: 'log',
    level: 'warn',
    message: `the store is slow: ${verbs} took ${writeDuration(tookMs)}`,
    fields: { kind: 'slow-store', verbs, tookMs: Math.round(tookMs) },
  });

const DEAD_BECAUSE: Readonly<Record<DeadCause, string>> = {
  lease: 'its lease ran out before it was settled',
  forgotten: 'the store forgot its settlement in a failover, and it was fetched again',
};

/** Time is the store's: that of its server for all who share it, or this machine's. */
const open = async (): Promise<{ store: OpenedStore; anchor: Anchor }> => {
  const store = await openStore({
    ...start.store,
    archive: archiveFrom,
    dead: (records, why) =>
      addDead(
        start.dir,
        records.map((one) => ({ ...one, why: DEAD_BECAUSE[why] })),
      ),
    clock: null,
    say: (message) => tell({ kind: 'log', level: 'warn', message }),
    about: {
      host: hostname(),
      pid: process.pid,
      dir: resolve(start.dir),
      version: start.version,
      startedAt: Date.now(),
    },
  });
  if (store.anchor) return { store, anchor: store.anchor };
  const { anchor, follow } = await anchorTo(store.time);
  setInterval(() => void follow().catch(() => {}), FOLLOW_MS).unref(); // while it is gone, its clock is as it was
  return { store, anchor };
};

const beating = new AbortController();
const onFault = (error: unknown): void => tell({ kind: 'fault', fault: toFault(error) });

const run = async (): Promise<void> => {
  openVitals(start.cells);
  const { store, anchor } = await open();
  if (start.pulse) {
    const pulse = openPulse(start.pulse, { monotonic: monotonicMs, wall: wallMs });
    await startBeating(store, pulse, { stop: beating.signal, onFault });
  }
  const server = createStoreServer(store, { onSlow, onTime });
  main.on('message', (message: ToStoreThread) => {
    switch (message.kind) {
      case 'client':
        return server.serve(message.port, message.name, openClientMeter(message.cells));
      case 'reread-done':
        return store.rereadDone?.();
      case 'close':
        return void close(store, server, message.free);
      default:
        message satisfies never;
    }
  });
  watchConnections(start.cells, start.store.url);
  tell({ kind: 'opened', anchor, forgotSince: store.forgotSince ?? null });
};

const close = async (store: Store, { drained }: StoreServer, free: boolean): Promise<void> => {
  try {
    await drained();
    beating.abort();
    if (free) await store.steer([{ kind: 'free', holder: null, counted: false }]);
    await store.close();
    tell({ kind: 'closed' });
  } catch (error) {
    tell({ kind: 'fault', fault: toFault(error) });
  }
  process.exit(0); // ends this thread: its clients' ports are still open
};

run().catch((error: unknown) => tell({ kind: 'fault', fault: toFault(error) }));
