/** The store thread: keeps the truth and appends the archive, in one order. */

import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openArchive } from '../archive/files.ts';
import { warcinfoRecord } from '../archive/records.ts';
import { anchorNow, createClock, type Anchor } from '../lib/clock.ts';
import { openSqliteStore, type SqliteStore } from '../store/sqlite/store.ts';
import { toFault } from './fault.ts';
import type { FromStoreThread, ThreadStart, ToStoreThread } from './messages.ts';
import { createStoreServer } from './store-port.ts';

const start = workerData as ThreadStart;
const main = parentPort!;
const tell = (message: FromStoreThread): void => main.postMessage(message);

const stamp = (atMs: number): string => new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14);

const open = (): { store: SqliteStore; anchor: Anchor } => {
  let anchor!: Anchor;
  const store = openSqliteStore({
    path: join(start.dir, 'crawl.db'),
    clock: (notBeforeMs) => createClock((anchor = anchorNow(notBeforeMs))),
    archive: (settled) => openArchive({
      dir: join(start.dir, 'warc'),
      settled,
      stamp: () => stamp(Date.now()),
      warcinfo: (fileName) => warcinfoRecord({
        fileName,
        at: Date.now(),
        software: start.userAgent.replace(/ \(.*/, ''),
        operator: start.settings.email,
        userAgent: start.userAgent,
        robots: 'classic', // obeyed, in the words of WARC
      }),
    }),
  });
  return { store, anchor };
};

try {
  const { store, anchor } = open();
  const server = createStoreServer(store);
  main.on('message', (message: ToStoreThread) => {
    switch (message.kind) {
      case 'client':
        return server.serve(message.port);
      case 'close':
        return void close(store, server.drained, message.free);
      default:
        message satisfies never;
    }
  });
  tell({ kind: 'opened', anchor });
} catch (error) {
  tell({ kind: 'fault', fault: toFault(error) });
}

const close = async (store: SqliteStore, drained: () => Promise<void>, free: boolean): Promise<void> => {
  try {
    await drained();
    if (free) await store.steer([{ kind: 'free', holder: null, counted: false }]);
    await store.close();
    tell({ kind: 'closed' });
  } catch (error) {
    tell({ kind: 'fault', fault: toFault(error) });
  }
  process.exit(0); // ends this thread: its clients' ports are still open
};
