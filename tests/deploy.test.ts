/**
 * The files in deploy/ that run a crawl: what can be known about them without Docker, and what systemd and logrotate
 * say.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { EXIT_CODES } from '../src/cli/command.ts';
import { SETTING_FLAGS } from '../src/cli/setting-flags.ts';
import { SETTINGS } from '../src/model/setting-table.ts';
import { DEPLOY } from './support/dashboards.ts';
import { unpackDebian, withLibraries } from './support/debian-packages.ts';

const ROOT = join(DEPLOY, '..');
const textOf = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}
const compose = parse(textOf('compose.yaml')) as { services: Record<string, Service>; volumes: Record<string, null> };
const services = Object.entries(compose.services);

const inFolder = <T>(story: (dir: string) => T): T => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-deploy-'));
  try {
    return story(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

test('the compose file runs the crawler, Redis, Prometheus and Grafana, each in a version that is named whole', () => {
  assert.deepEqual(services.map(([name]) => name).toSorted(), ['gossamer', 'grafana', 'prometheus', 'redis']);
  for (const [name, { image, build }] of services)
    if (!build) assert.match(image, /:v?\d+\.\d+\.\d+(?:-[a-z]+)?$/, name);
  assert.equal(compose.services.gossamer?.image, 'gossamer:local', 'built from the clone, whatever its version is');
});

test('everything that the compose file mounts or builds from is there, and nothing of ours is mounted to be written', () => {
  const named = new Set<string>();
  for (const [name, { volumes = [], build }] of services) {
    for (const volume of volumes) {
      const [from = '', , mode] = volume.split(':');
      if (!from.startsWith('.')) named.add(from);
      else assert.ok(existsSync(join(DEPLOY, from)) && mode === 'ro', `${name}: ${volume}`);
    }
    if (build) assert.ok(existsSync(join(DEPLOY, build.context, build.dockerfile)));
  }
  assert.deepEqual([...named].toSorted(), Object.keys(compose.volumes).toSorted());
});

test('no port of the compose file is open beyond the machine', () => {
  const ports = services.flatMap(([, service]) => service.ports ?? []);
  assert.equal(ports.length, 2);
  assert.deepEqual(
    ports.filter((port) => !port.startsWith('127.0.0.1:')),
    [],
  );
});

test('passwords and the address come from the environment, and without them the compose file says what is missing', () => {
  const variables = [...textOf('compose.yaml').matchAll(/(?<!\$)\$(?:\{(\w+)(:\?[^}]+)?[^}]*\}|(\w+))/g)];
  assert.deepEqual(
    variables.filter(([, , says]) => (says ?? '').length < 10).map(([text]) => text),
    [],
  );
  assert.deepEqual([...new Set(variables.map(([, name]) => name))].toSorted(), [
    'GOSSAMER_EMAIL',
    'GRAFANA_PASSWORD',
    'REDIS_PASSWORD',
  ]);
  for (const [name, { environment = {} }] of services) {
    for (const [variable, value] of Object.entries(environment)) {
      if (/PASSWORD|AUTH|STORE/.test(variable)) assert.match(value, /\$\{\w+:\?/, `${name}: ${variable}`);
    }
  }
  assert.deepEqual(
    globSync('**/*.{conf,yml,yaml,env,ini}', { cwd: DEPLOY }).filter((file) =>
      /^\s*(?:requirepass|.*password:)\s*["']?[\w-]+["']?\s*$/im.test(textOf(file)),
    ),
    [],
  );
});

test('the crawler of the compose file is started with flags that exist, serves metrics where Prometheus asks, and has time to stop', () => {
  const { command = [], stop_grace_period: grace = '' } = compose.services.gossamer!;
  const flags = command.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  assert.deepEqual(
    flags.filter((flag) => !SETTING_FLAGS.some(({ name }) => name === flag)),
    [],
  );
  const port = command[command.indexOf('--metrics') + 1]?.split(':')[1];
  const [{ targets }] = parse(textOf('prometheus/targets-compose.yml')) as [{ targets: string[] }];
  assert.deepEqual(targets, [`gossamer:${port}`]);
  const minutes = Number(/^(\d+)m$/.exec(grace)?.[1]);
  assert.ok(minutes * 60_000 > Number(SETTINGS.timeoutMs.fallback), grace);
});

test('the compose file of a second machine runs the crawler alone, as the first does, and only joins', () => {
  const joining = parse(textOf('compose-join.yaml')) as typeof compose;
  assert.deepEqual(Object.keys(joining.services), ['gossamer']);
  const { command, environment, volumes, ports, ...same } = joining.services.gossamer!;
  const first = compose.services.gossamer! as unknown as Record<string, unknown>;
  for (const [key, value] of Object.entries(same)) assert.deepEqual(value, first[key], key);
  assert.deepEqual(volumes, ['crawl:/crawl']);
  assert.deepEqual(ports, ['127.0.0.1:9464:9464']);
  assert.equal(environment?.GOSSAMER_START_JOIN, 'yes');
  assert.match(environment?.GOSSAMER_STORE ?? '', /^\$\{GOSSAMER_STORE:\?.{10,}\}$/);
  const { name } = parse(textOf('gossamer/crawl.yaml')) as { name: string };
  assert.deepEqual(command, ['--name', name, '--metrics', '0.0.0.0:9464'], 'nothing that is of the whole crawl');

  const sharing = parse(textOf('compose-share.yaml')) as { services: Record<string, Service> };
  assert.deepEqual(Object.keys(sharing.services), ['redis']);
  assert.deepEqual(Object.keys(sharing.services.redis!), ['ports']);
  assert.match(sharing.services.redis!.ports![0]!, /^\$\{GOSSAMER_SHARE:\?.{10,}\}:6379:6379$/);
});

test('the image is built from files that exist and are sent to Docker, on the Node that the package asks for', () => {
  const lines = textOf('Dockerfile').split('\n');
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
  const bases = lines
    .filter((line) => line.startsWith('FROM '))
    .map((line) => /^FROM node:(\d+)\.\d+\.\d+-/.exec(line)?.[1]);
  assert.equal(bases.length, 2);
  for (const major of bases) assert.equal(`>=${major}`, engines.node);

  const [all, ...sent] = textOf('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(all, '*');
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1));
  for (const path of copied) assert.ok(existsSync(join(ROOT, path)), path);
  assert.deepEqual([...new Set(copied)].toSorted(), sent.map((line) => line.slice(1)).toSorted());
});

const unit = (): Map<string, string[]> => {
  const keys = new Map<string, string[]>();
  for (const line of textOf('systemd/gossamer@.service').split('\n')) {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined) keys.set(key, [...(keys.get(key) ?? []), value ?? '']);
  }
  return keys;
};
const one = (key: string): string => {
  const [value, ...more] = unit().get(key) ?? [];
  assert.ok(value !== undefined && more.length === 0, key);
  return value;
};

test('the service resumes after a fault and a kill, and leaves finished, stopped, wrong and full crawls alone', () => {
  assert.equal(one('Restart'), 'on-failure'); // with what is counted as success beside 0, and what is not tried again
  const codesIn = (key: string): number[] => one(key).split(' ').map(Number);
  const rests = new Set([0, ...codesIn('SuccessExitStatus'), ...codesIn('RestartPreventExitStatus')]);
  assert.deepEqual(
    Object.keys(EXIT_CODES)
      .map(Number)
      .filter((code) => !rests.has(code)),
    [1],
  );
  assert.deepEqual(codesIn('SuccessExitStatus'), [3, 5, 130]);
});

test('the service stops with the signal that stops in order, and waits longer than a request may take', () => {
  assert.equal(one('KillSignal'), 'SIGTERM');
  assert.equal(one('KillMode'), 'mixed');
  assert.ok(Number(one('TimeoutStopSec')) * 1000 > 2 * Number(SETTINGS.timeoutMs.fallback));
});

test('the service has limits, and may write nowhere but in the directory of its crawl', () => {
  assert.ok(Number(one('LimitNOFILE')) >= 65_536);
  for (const key of ['MemoryMax', 'MemoryHigh']) assert.match(one(key), /^\d+G$/);
  assert.deepEqual(
    [one('ProtectSystem'), one('ProtectHome'), one('NoNewPrivileges'), one('CapabilityBoundingSet')],
    ['strict', 'yes', 'yes', ''],
  );
  assert.equal(one('StateDirectory'), 'gossamer/%i');
  assert.equal(one('ExecStart'), '/usr/local/bin/gossamer-start %S/gossamer/%i /etc/gossamer/%i.yaml');
  assert.deepEqual(
    ['ReadWritePaths', 'MemoryDenyWriteExecute'].filter((key) => unit().has(key)),
    [],
  );
});

const hasSystemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0;

test(
  'systemd understands every line of the service',
  { skip: !hasSystemd && 'this machine has no systemd-analyze' },
  () =>
    inFolder((root) => {
      // A root of its own, in which the service is installed as the guide says.
      const put = (from: string, to: string): void => {
        mkdirSync(dirname(join(root, to)), { recursive: true });
        copyFileSync(from, join(root, to));
      };
      put(join(DEPLOY, 'systemd/gossamer@.service'), 'etc/systemd/system/gossamer@.service');
      put(join(DEPLOY, 'gossamer-start'), 'usr/local/bin/gossamer-start');
      put('/bin/true', 'bin/kill');
      for (const target of ['sysinit', 'basic', 'shutdown', 'network-online', 'multi-user'])
        writeFileSync(
          join(root, `etc/systemd/system/${target}.target`),
          '[Unit]\nDescription=x\nDefaultDependencies=no\n',
        );
      const { status, stdout, stderr } = spawnSync(
        'systemd-analyze',
        ['verify', '--man=no', `--root=${root}`, 'gossamer@news.service'],
        { encoding: 'utf8' },
      );
      assert.deepEqual([status, stdout, stderr], [0, '', '']);
    }),
);

test('logrotate understands its file and would rotate the log of a crawl', () => {
  const folder = unpackDebian(['logrotate']);
  inFolder((dir) => {
    const logs = join(dir, 'news', 'logs');
    mkdirSync(logs, { recursive: true });
    chmodSync(dir, 0o755);
    writeFileSync(join(logs, 'gossamer.log'), '{}\n');
    const { username } = userInfo();
    const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
    const config = textOf('logrotate/gossamer')
      .replace('/var/lib/gossamer/', `${dir}/`)
      .replace('su gossamer gossamer', `su ${username} ${group}`);
    const path = join(dir, 'logrotate.conf');
    writeFileSync(path, config, { mode: 0o644 });
    const { status, stderr } = spawnSync(
      join(folder, 'usr/sbin/logrotate'),
      ['--debug', '--force', '--state', join(dir, 'state'), path],
      { encoding: 'utf8', env: withLibraries(folder) },
    );
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /error/i);
    assert.match(stderr, /log needs rotating/);
    assert.match(stderr, /renaming .*gossamer\.log to .*gossamer\.log-\d{8}/);
    assert.match(stderr, /systemctl reload 'gossamer@\*\.service'/);
  });
});

test('the page about deploy/ names every file in it', () => {
  const page = textOf('README.md');
  const files = globSync('**/*', { cwd: DEPLOY }).filter(
    (file) => statSync(join(DEPLOY, file)).isFile() && file !== 'README.md',
  );
  assert.deepEqual(
    files.filter((file) => !page.includes(`\`${file}\``)),
    [],
  );
});
