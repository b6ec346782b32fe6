/**
 * The comparison itself, inside namespaces of its own where only loopback exists: the small web has its real names and
 * ports there, and nothing that a crawler does can leave.
 *
 * Started by ../peers.ts, with what it needs as JSON.
 */

import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PEERS_DIR, type Sources } from './install.ts';
import { PEERS, type Errand, type Peer } from './list.ts';
import { measure, type Judge, type Measured } from './measure.ts';
import { markdown, type Row } from './table.ts';
import type { Ask, Count, Ready, WebReport } from './web.ts';

export interface Comparison {
  readonly pages: number;
  readonly sites: number;
  readonly profile: string;
  readonly only: readonly string[];
  readonly secondsMax: number;
  /** What every response of the web takes to begin. */
  readonly latencyMs: number;
  /** A folder for what is gone afterwards. */
  readonly temporary: string;
  readonly sources: Sources;
}

/** Bounds the record that the web keeps. */
const REQUESTS_MAX = 1_000_000;
/** A crawler that asks for nothing this long has ended, though its process has not. */
const IDLE_MS_MAX = 60_000;
const TELL_MS = 2_000;
/** Fewer pages than this share of what was asked for need a word of explanation. */
const ENOUGH = 0.97;

/** Without iproute2: the flags of the interface, by the two ioctls that `ip` would use. */
const LOOPBACK_BY_PERL =
  'socket(my $s, 2, 2, 0) or exit 1; my $r = pack("a16s x22", "lo", 0); ' +
  'ioctl($s, 0x8913, $r) or exit 1; my $f = unpack("x16 s", $r); ' +
  '$r = pack("a16s x22", "lo", $f | 1); ioctl($s, 0x8914, $r) or exit 1';

const runs = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const enterNetwork = (temporary: string): void => {
  const up =
    runs('ip', 'link', 'set', 'lo', 'up') ||
    runs('/sbin/ip', 'link', 'set', 'lo', 'up') ||
    runs('ifconfig', 'lo', 'up') ||
    runs('perl', '-e', LOOPBACK_BY_PERL);
  if (!up) throw new Error('the loopback interface could not be brought up: install iproute2, net-tools or perl');
  mount(temporary, '/etc/resolv.conf', 'nameserver 127.0.0.1\n');
  mount(temporary, '/etc/hosts', '127.0.0.1 localhost\n');
  // Most crawlers open a connection per page: without more ports they would wait for those of closed ones.
  runs('sh', '-c', 'echo "1024 65535" > /proc/sys/net/ipv4/ip_local_port_range');
};

/** In these namespaces alone, the file says this. */
const mount = (temporary: string, over: string, text: string): void => {
  const file = join(temporary, over.replaceAll('/', '-'));
  writeFileSync(file, text);
  if (!runs('mount', '--bind', file, over)) throw new Error(`${over} could not be replaced for the crawlers`);
};

interface Web {
  readonly ready: Ready;
  begin(): Promise<null>;
  count(): Promise<Count>;
  report(): Promise<WebReport>;
}

const startWeb = async ({ profile, sites, latencyMs }: Comparison): Promise<Web> => {
  const child: ChildProcess = fork(fileURLToPath(new URL('web.ts', import.meta.url)), [
    profile,
    `${sites}`,
    `${latencyMs}`,
  ]);
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the small web has ended: see what it said')));
  gone.catch(() => {}); // whoever asks next is told
  const told = async <T>(): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>();
    child.once('message', (message) => resolve(message as T));
    return Promise.race([promise, gone]);
  };
  const ask = <T>(what: Ask): Promise<T> => {
    child.send(what);
    return told<T>();
  };
  return {
    ready: await told<Ready>(),
    begin: () => ask('begin'),
    count: () => ask('count'),
    report: () => ask('report'),
  };
};

/** Says how far a crawler is, and ends it when it has had its time or its pages. */
const judgeOf = (web: Web, peer: Peer, { pages, secondsMax }: Comparison): Judge => {
  const startedAt = performance.now();
  let [toldAt, askedAt, requests] = [startedAt, startedAt, 0];
  return async () => {
    const now = performance.now();
    const seconds = Math.round((now - startedAt) / 1_000);
    const count = await web.count();
    if (count.requests > requests) [askedAt, requests] = [now, count.requests];
    if (now - toldAt >= TELL_MS) {
      toldAt = now;
      console.error(`${peer.name}: ${count.pages} pages, ${count.requests} requests, ${seconds} s`);
    }
    if (!peer.stops && count.pages >= pages) return `stopped by us when the web had answered ${count.pages} pages`;
    if (now - startedAt >= secondsMax * 1_000) return `stopped by us after ${secondsMax} s`;
    if (count.requests >= REQUESTS_MAX) return `stopped by us after ${REQUESTS_MAX} requests`;
    if (now - askedAt >= IDLE_MS_MAX) return `stopped by us when it had asked for nothing for ${IDLE_MS_MAX / 1_000} s`;
    return null;
  };
};

const remarkOn = (used: Measured, web: WebReport, { pages }: Comparison): string => {
  const remarks = [used.endedBecause];
  if (used.endedBecause === null && used.code !== 0) remarks.push(`it ended with code ${used.code}`);
  if (web.verdict.pages < pages * ENOUGH) {
    const failed = used.endedBecause === null ? 'ended by itself' : 'was stopped';
    remarks.push(`it ${failed} at ${web.verdict.pages} of ${pages} pages`);
  }
  const said = remarks.filter((remark) => remark !== null).join('; ');
  return said === '' ? '' : `${said[0]!.toUpperCase()}${said.slice(1)}.`;
};

/** The command as somebody else would write it: no path of this machine, and no quotes but where they are needed. */
const shown = (argv: readonly string[], errand: Errand): string => {
  const root = join(PEERS_DIR, '..');
  return argv
    .map((word) =>
      word
        .replace(process.execPath, 'node')
        .replace(errand.dir, 'DIR')
        .replace(errand.seedFile, 'seeds.txt')
        .replace(`${root}/`, ''),
    )
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`))
    .join(' ');
};

const runPeer = async (web: Web, peer: Peer, comparison: Comparison): Promise<Row> => {
  const { sources, pages, temporary } = comparison;
  const source = peer.source === null ? null : sources[peer.source];
  const [title, about] = [peer.title(sources), peer.about];
  if (source?.kind === 'missing') {
    return { title, about, command: '', outcome: { kind: 'missing', why: source.why } };
  }
  const dir = join(temporary, peer.name);
  const errand: Errand = { pages, seedFile: join(temporary, 'seeds.txt'), portal: web.ready.portal, dir };
  const { argv, env = {} } = peer.command(errand, sources);
  mkdirSync(dir);
  await web.begin();
  console.error(`${peer.name}: starts`);
  const used = await measure(
    {
      argv,
      env: { ...env, HOME: join(PEERS_DIR, 'home') },
      cwd: dir,
      log: join(PEERS_DIR, 'logs', `${peer.name}.log`),
    },
    judgeOf(web, peer, comparison),
  );
  const report = await web.report();
  rmSync(dir, { recursive: true, force: true });
  const remark = remarkOn(used, report, comparison);
  console.error(`${peer.name}: ${report.verdict.pages} pages. ${remark}`);
  return { title, about, command: shown(argv, errand), outcome: { kind: 'ran', used, web: report, remark } };
};

const compare = async (comparison: Comparison): Promise<void> => {
  const { temporary, latencyMs } = comparison;
  mkdirSync(join(PEERS_DIR, 'logs'), { recursive: true });
  enterNetwork(temporary);
  const web = await startWeb(comparison);
  writeFileSync(join(temporary, 'seeds.txt'), `${web.ready.seeds.join('\n')}\n`);
  const rows: Row[] = [];
  for (const peer of PEERS.filter(({ name }) => comparison.only.includes(name)))
    rows.push(await runPeer(web, peer, comparison));
  const { ready } = web;
  const opening =
    `${comparison.pages} pages asked of each, of ${ready.about}; ${ready.sites} sites, ${ready.seeds.length} seeds; ` +
    `${latencyMs === 0 ? 'answers at once' : `${latencyMs} ms before each response`}, no delay between requests. ` +
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}) shared with the web, Node ` +
    `${process.version}, one crawler after the other, in a network of its own that has only loopback.`;
  console.log(markdown({ opening, latencyMs, rows }));
};

// As the first process of its namespace it has no signals but those that it asks for; with it, all others end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
try {
  await compare(JSON.parse(process.argv[2]!) as Comparison);
  process.exit(0);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
