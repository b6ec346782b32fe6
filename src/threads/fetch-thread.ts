/** A fetch thread: claims, fetches, routes, and hands over settlements. */

import { parentPort, workerData } from 'node:worker_threads';
import { createFetcher } from '../fetch/fetcher.ts';
import { createAsker } from '../fetch/ask.ts';
import { readConnectTo } from '../fetch/connect-to.ts';
import { readHostsFile } from '../fetch/hosts-file.ts';
import { runClaimLoop, type LoopGauges } from '../visit/claim-loop.ts';
import { createCrew, type Crew, type CrewChange } from '../visit/crew.ts';
import type { Parsed, ParseJob, VisitParts } from '../visit/parts.ts';
import type { Store } from '../contract/store.ts';
import { openPulse, watchPulse } from '../visit/pulse.ts';
import { createReach } from '../visit/reach.ts';
import { visit } from '../visit/visit.ts';
import { createClock, monotonicMs, wallMs } from '../lib/clock.ts';
import { writeDuration } from '../lib/units.ts';
import { socketsMaxOf } from '../model/settings.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import { openHomes, type Homes } from '../url/homes.ts';
import { ThreadFault, toFault } from './fault.ts';
import { openFetchMeter } from './fetch-meter.ts';
import { createActivityNotes } from '../observe/activity.ts';
import { openHeart } from '../observe/heart.ts';
import { createHookLog } from '../hooks/log.ts';
import { openHooks } from '../hooks/hooks.ts';
import { createLiveSettings, heardWith, type Footing, type LiveSettings } from './live-settings.ts';
import type { FetchStart, FromFetchThread, SettingsNow, ToFetchThread } from './messages.ts';
import { openThreadLedger } from './noted-requests.ts';
import { notedVisit } from './noted-visits.ts';
import { createParsePool } from './parse-pool.ts';
import { createRequestChain } from './request-chain.ts';
import { createRobotsReader } from './robots-reader.ts';
import { createStoreClient } from './store-client.ts';
import { askUnder, crewUnder, sendingUnder } from './under-settings.ts';
import { createVisitTimes } from './visit-times.ts';
import { createHomeLine } from './home-line.ts';
import { openVitals } from './vitals.ts';

/** How often a fetch thread notes what it does and shows that it lives. */
const NOTE_MS = 500;

const start = workerData as FetchStart;
const { settings } = start;
const main = parentPort!;
const tell = (message: FromFetchThread): void => main.postMessage(message);

const clock = createClock(start.anchor);
const heart = openHeart(start.heart);
const meter = openFetchMeter(start.cells);
const pool = createParsePool(meter.waits);
const stop = new AbortController();
const abort = new AbortController();
const gauges: LoopGauges = { visits: 0, slots: 0 };
const times = createVisitTimes(clock);
const vitals = openVitals(start.cells);
const pulse = start.pulse && watchPulse(openPulse(start.pulse, { monotonic: monotonicMs, wall: wallMs }), clock);
const notes = start.watched ? createActivityNotes() : null;

const fetcher = createFetcher({
  clock,
  ...sendingUnder(start),
  credentials: start.credentials ?? undefined,
  socketsMax: socketsMaxOf(settings),
  bodyMemoryBytes: Math.ceil(settings.bodyMemoryBytes / settings.fetchers),
  allowPrivateAddresses: settings.allowPrivateAddresses,
  connectTo: settings.connectTo.map((text) => readConnectTo(text)!),
  nameServers: settings.nameServers,
  onSockets: meter.sockets,
});
const asker = createAsker({
  connectTo: settings.connectTo.map((text) => readConnectTo(text)!),
  hosts: readHostsFile(),
  nameServers: settings.nameServers,
});
const CUT_WORDS = {
  names: 'no host name can be looked up, not even those of sites that answered before',
  connections: 'no connection can be made, not even to sites that answered before',
} as const;
const reach = createReach({
  clock,
  ask: (origin, means) => (means === 'names' ? asker.name(origin) : asker.connection(origin)),
  namedAt: fetcher.namedAt,
  onCut: (means) =>
    tell({
      kind: 'log',
      level: 'warn',
      message: `${CUT_WORDS[means]}: this machine seems to be cut off. Nothing is visited, and no failure counts, until they can be reached again`,
      fields: { thread: start.name, means },
    }),
  onBack: (means, cutMs) => {
    fetcher.forgetMissingNames();
    tell({
      kind: 'log',
      level: 'warn',
      message: `the crawl goes on: this machine was cut off for ${writeDuration(cutMs)}`,
      fields: { thread: start.name, means, cutMs: Math.round(cutMs) },
    });
  },
  answered: start.answered,
  onKnown: (origin) => tell({ kind: 'answered', origin }),
});

const homesOf = ({ homes }: SettingsNow): Homes | null => homes && openHomes(homes);
const homes = createHomeLine(homesOf(start), { tell, now: clock.now });

const hookLog = createHookLog({
  path: settings.hooks,
  thread: start.name,
  warn: (message) => tell({ kind: 'log', level: 'warn', message, fields: { kind: null } }),
});
const hooks = settings.hooks === '' ? null : await openHooks({ path: settings.hooks, heart, onTrouble: hookLog.note });
let refused: Crew['refused'] = {};

let latest: SettingsNow = start;

/** Parses in this thread. The heart says which page it is, so that one that ends this thread is known afterwards. */
const openParser = async (): Promise<(job: ParseJob) => Parsed> => {
  const { createPageWork, workOrLost } = await import('./page-work.ts');
  return (job) => {
    heart.busy(job.lease);
    const work = createPageWork({ ...start, ...latest, extract: hooks?.extract, now: clock.now });
    const parsed = workOrLost(work, job);
    heart.busy();
    return parsed;
  };
};
const parseHere = settings.parsers === 0 ? await openParser() : null;

const parse = async (job: ParseJob): Promise<Parsed> => {
  const parsed = parseHere ? parseHere(job) : await pool.parse(job);
  meter.parsed(parsed, parseHere !== null);
  if (parsed.kind === 'parsed') parsed.troubles.forEach(hookLog.note);
  return parsed;
};

let crew: Crew | null = null;

/** What the settings of the crawl make of the visits of this thread. */
const liveOn = (store: Store): LiveSettings => {
  const make = (now: SettingsNow): Footing => {
    const ledger = openThreadLedger(start, now, clock.now);
    const fetch = fetcher.sending(sendingUnder(now));
    const change: CrewChange = {
      ...crewUnder(now, homes),
      fetch: createRequestChain({ fetcher: { fetch }, ledger, times, meter, reach }),
      readRobots: createRobotsReader({
        productToken: now.productToken,
        elsewhere: parseHere ? null : pool.readRobots,
      }),
    };
    const shared = {
      ...{ clock, store, forget: fetcher.forget, parse, accept: hooks?.accept ?? null },
      ...(pulse ? { pulse } : {}),
    };
    const parts = crew ? crew.under(change) : (crew = createCrew({ ...shared, ...change })).parts;
    ({ refused } = crew);
    return { parts, ask: askUnder(now), end: async () => ledger?.close() };
  };
  return createLiveSettings(latest, { make, onBehind: (number) => tell({ kind: 'entry', number }) });
};
let live: LiveSettings | null = null;

const note = (): void => {
  heart.busy(); // beats while the event loop turns
  pulse?.look();
  meter.now({
    ...gauges,
    bodyBytes: fetcher.gauges().bodyBytes,
    refused,
    waitingForParser: pool.waiting(),
    longestVisitMs: times.longestVisitMs(),
    longestRequestMs: times.longestRequestMs(),
    parseBacklog: pool.backlog(),
  });
  if (notes) tell({ kind: 'activity', activity: notes.now(clock.now()) });
};

const loggedVisit = async (parts: VisitParts, leased: Visit): Promise<Settlement> => {
  const begun = clock.now();
  const settlement = await visit(parts, leased, abort.signal);
  const { fate, page } = settlement;
  const {
    site,
    link: { url },
  } = leased;
  const known = { fate, outcome: page?.outcome ?? null, status: page?.status ?? null };
  tell({
    kind: 'log',
    level: 'debug',
    message: `${fate} ${known.outcome ?? '-'} ${known.status ?? '-'} ${url}`,
    fields: { ...known, url, site, tookMs: Math.round(clock.now() - begun) },
  });
  return settlement;
};

const anyVisit = (parts: VisitParts, leased: Visit): Promise<Settlement> => {
  const visited = (): Promise<Settlement> =>
    start.logPages ? loggedVisit(parts, leased) : visit(parts, leased, abort.signal);
  return notes ? notedVisit({ notes, clock }, leased, visited) : visited();
};

const run = async (store: Store): Promise<void> => {
  const timer = setInterval(note, NOTE_MS);
  const visits = (live = liveOn(store));
  try {
    let term = 0;
    await runClaimLoop(
      {
        clock,
        slots: settings.concurrency,
        stop: stop.signal,
        onFull: meter.stoppedFor,
        claim: async ({ visits: count }) => {
          await reach.passable(stop.signal);
          if (stop.signal.aborted || Atomics.load(start.held, 0) !== 0) return { visits: [], nextDueAt: null };
          const { name: holder, shards } = start;
          const claimed = await store.claim({ holder, shards, visits: count, ...visits.now().ask });
          // What the store forgot in a failover must not be taken for known.
          if (claimed.term !== term) crew?.forgetKnown();
          ({ term } = claimed);
          return heardWith(visits, claimed, stop.signal);
        },
        visit: (leased) => times.timed('visit', () => visits.during(({ parts }) => anyVisit(parts, leased))),
      },
      gauges,
    );
    note();
  } catch (error) {
    // The store cannot go on: nobody can. Anything else is a defect in this thread, which dies of it and is started
    // again.
    if (!(error instanceof ThreadFault)) throw error;
    tell({ kind: 'fault', fault: toFault(error) });
  } finally {
    clearInterval(timer);
    hookLog.close();
    vitals.look(); // the last CPU time counts, too
    vitals.close();
    heart.rest();
    await fetcher.close();
    await visits.close();
    pool.close();
    await store.close();
    main.removeAllListeners('message');
    main.unref();
  }
};

/** What a hooks module left open (a timer, a socket) must not keep this thread. */
const leave = (): void => {
  if (hooks) process.exit(0);
};

/** As an exception: a rejection would be taken for one that a hook left behind. */
const die = (error: unknown): void =>
  void setImmediate(() => {
    throw error;
  });

main.on('message', (message: ToFetchThread) => {
  switch (message.kind) {
    case 'store':
      return void run(createStoreClient(message.port)).then(leave, die);
    case 'parser':
      return pool.add(message.name, message.port);
    case 'parser-gone':
      return pool.remove(message.name, message.lease);
    case 'homes':
      return homes.heard(openHomes(message.shared));
    case 'home-known':
      return homes.done(message.id);
    case 'settings':
      latest = message.now;
      homes.heard(homesOf(latest));
      return live?.take(latest);
    case 'stop':
      stop.abort();
      pool.expectNoMore();
      // What is still under way then is cut off, and its links wait again.
      setTimeout(() => abort.abort(), message.graceMs).unref();
      return;
    default:
      message satisfies never;
  }
});
