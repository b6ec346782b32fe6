/**
 * `npm run bench -- peers`: Gossamer beside what people would use instead, on the same small web.
 *
 * The peers are brought into .peers, and then this program starts itself again in new namespaces (unshare), where the
 * names of the small web are real and only loopback exists: nothing that a crawler does can leave. `--only
 * gossamer,scrapy` runs some, `--pages`, `--sites` and `--profile` (a, b or c: workloads.ts) choose the web,
 * `--latency-ms` lets its responses take time, `--seconds-max` is the time that each crawler may take.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Comparison } from './peers/inside.ts';
import { installPeers } from './peers/install.ts';
import { PEERS } from './peers/list.ts';
import { isWorkload, WORKLOADS } from './workloads.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '6000' },
    sites: { type: 'string', default: '10000' },
    profile: { type: 'string', default: 'a' },
    only: { type: 'string', default: PEERS.map(({ name }) => name).join(',') },
    'seconds-max': { type: 'string', default: '300' },
    'latency-ms': { type: 'string', default: '0' },
  },
  allowPositionals: true,
});

const refuse = (sentence: string): never => {
  console.error(sentence);
  process.exit(2);
};

const numberOf = (name: 'pages' | 'sites' | 'seconds-max' | 'latency-ms', least = 1): number => {
  const number = Number(values[name]);
  return Number.isInteger(number) && number >= least ? number : refuse(`--${name} is a whole number from ${least} on`);
};

/** The first way that works here. With a namespace for processes, nothing outlives the run, whatever ends it. */
const WAYS = [
  ['--user', '--map-root-user', '--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ['--user', '--map-root-user', '--mount', '--net'],
];

const wayIn = (): readonly string[] => {
  const works = WAYS.find((flags) => spawnSync('unshare', [...flags, 'true'], { stdio: 'ignore' }).status === 0);
  return (
    works ??
    refuse(
      'the comparison needs Linux with util-linux and unprivileged user namespaces: ' +
        '"unshare --user --map-root-user --mount --net true" must succeed',
    )
  );
};

const only = values.only.split(',');
const unknown = only.find((name) => PEERS.every((peer) => peer.name !== name));
if (unknown !== undefined) refuse(`no peer "${unknown}": choose among ${PEERS.map(({ name }) => name).join(', ')}`);
if (!isWorkload(values.profile.toUpperCase())) {
  refuse(`no profile "${values.profile}": choose one of ${Object.keys(WORKLOADS).join(', ').toLowerCase()}`);
}
const way = wayIn();
const temporary = mkdtempSync(join(tmpdir(), 'gossamer-peers-'));
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
const comparison: Comparison = {
  pages: numberOf('pages'),
  sites: numberOf('sites'),
  profile: values.profile,
  only,
  secondsMax: numberOf('seconds-max'),
  latencyMs: numberOf('latency-ms', 0),
  temporary,
  sources: await installPeers((source) => PEERS.some((peer) => only.includes(peer.name) && peer.source === source)),
};
const inside = fileURLToPath(new URL('./peers/inside.ts', import.meta.url));
const child = spawn('unshare', [...way, process.execPath, inside, JSON.stringify(comparison)], { stdio: 'inherit' });
// Ctrl-C reaches all of the terminal's group; a signal to this process alone is passed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGKILL'));
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
