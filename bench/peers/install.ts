/** Brings the peers into a folder of their own: npm packages, and Debian packages that are unpacked, not installed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { telling } from '../progress.ts';

/** Ignored by git; `rm -r` brings a machine back to where it was. */
export const PEERS_DIR = fileURLToPath(new URL('../../.peers', import.meta.url));

/** Where the peers of one source are, or why they are not. */
export type Source =
  | { readonly kind: 'here'; readonly folder: string; readonly versions: Readonly<Record<string, string>> }
  | { readonly kind: 'missing'; readonly why: string };

export interface Sources {
  readonly npm: Source;
  readonly scrapy: Source;
  readonly httrack: Source;
}

/** A registry that hangs costs the peers that it has, not the run. */
const COMMAND_MS_MAX = 600_000;

const NPM_PACKAGES = {
  '@crawlee/cheerio': '3.18.1',
  '@crawlee/http': '3.18.1',
  htmlparser2: '12.0.0',
  // The last one whose program was published: later ones have only the part that loads it.
  '@spider-rs/spider-rs': '0.0.157',
};
const SCRIPTS = ['crawlee.mjs', 'spider.mjs'];

/** What is wanted of each source; what is there already is not fetched again. */
export const installPeers = async (wanted: (source: keyof Sources) => boolean): Promise<Sources> => {
  mkdirSync(join(PEERS_DIR, 'home'), { recursive: true });
  const from = async (source: keyof Sources, install: () => Promise<Source>): Promise<Source> => {
    if (!wanted(source)) return { kind: 'missing', why: 'not asked for' };
    return install().catch((error: unknown): Source => ({ kind: 'missing', why: (error as Error).message }));
  };
  return {
    npm: await from('npm', installNpm),
    scrapy: await from('scrapy', () => installDebian('python3-scrapy')),
    httrack: await from('httrack', () => installDebian('httrack')),
  };
};

const installNpm = async (): Promise<Source> => {
  const folder = join(PEERS_DIR, 'npm');
  const manifest = JSON.stringify({ private: true, dependencies: NPM_PACKAGES }, null, 2);
  const file = join(folder, 'package.json');
  const done = join(folder, 'node_modules', '.complete');
  if (!existsSync(done) || readFileSync(done, 'utf8') !== manifest) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, manifest);
    await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    writeFileSync(done, manifest);
  }
  for (const script of SCRIPTS) copyFileSync(new URL(script, import.meta.url), join(folder, script));
  return { kind: 'here', folder, versions: NPM_PACKAGES };
};

/** The package with everything that it needs and the machine lacks, in one folder. */
const installDebian = async (name: string): Promise<Source> => {
  const folder = join(PEERS_DIR, name);
  const versionFile = join(folder, '.version');
  if (!existsSync(versionFile)) {
    const making = join(PEERS_DIR, `.making-${name}`);
    rmSync(making, { recursive: true, force: true });
    mkdirSync(join(making, 'root'), { recursive: true });
    try {
      const version = await unpack(making, name);
      writeFileSync(join(making, 'root', '.version'), version);
      rmSync(folder, { recursive: true, force: true });
      renameSync(join(making, 'root'), folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  return { kind: 'here', folder, versions: { [name]: readFileSync(versionFile, 'utf8') } };
};

const unpack = async (making: string, name: string): Promise<string> => {
  const simulate = (): Promise<string> =>
    run('apt-get', [...aptOptions(making), 'install', '--simulate', '--no-install-recommends', name], making);
  let planned: string;
  try {
    planned = await simulate();
  } catch {
    // The machine knows no package lists. Ours are private: no lock of the machine, no right to write its own.
    mkdirSync(join(making, 'lists/partial'), { recursive: true });
    await run('apt-get', [...aptOptions(making), 'update'], making);
    planned = await simulate();
  }
  const missing = [...planned.matchAll(/^Inst (\S+)/gm)].map(([, found]) => found!);
  if (missing.length === 0) return (await run('dpkg-query', ['-W', '-f', '${Version}', name], making)).trim();
  const debs = join(making, 'debs');
  mkdirSync(debs);
  await run('apt-get', [...aptOptions(making), 'download', ...missing], debs);
  for (const deb of readdirSync(debs)) await run('dpkg', ['-x', join(debs, deb), join(making, 'root')], making);
  return new RegExp(`^Inst ${name} \\((\\S+)`, 'm').exec(planned)?.[1] ?? 'unknown';
};

const aptOptions = (making: string): string[] => [
  '-q',
  '-o',
  'APT::Sandbox::User=root',
  '-o',
  'Debug::NoLocking=1',
  ...(existsSync(join(making, 'lists'))
    ? ['-o', `Dir::State::Lists=${join(making, 'lists')}`, '-o', `Dir::Cache=${making}`]
    : []),
];

/** What it wrote; fails with one line that says why. */
const run = (command: string, args: readonly string[], cwd: string): Promise<string> => {
  const said = `${command} ${args.find((word) => /^[a-z]+$/.test(word)) ?? ''} for the peers`;
  return telling(
    () => `${said} ...`,
    async () => {
      const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: COMMAND_MS_MAX });
      let out = '';
      let faults = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (faults += text));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`${said} failed: ${lastLine(faults || out) || `it ended with ${code}`}`);
      return out;
    },
  );
};

const lastLine = (text: string): string => text.trim().split('\n').at(-1)!.replace(/\s+/g, ' ');

/** The environment for a program of an unpacked folder: its own libraries are found before the machine's. */
export const debianEnv = (folder: string): Record<string, string> => {
  const dirs = ['usr/lib/*-linux-gnu*', 'lib/*-linux-gnu*'].flatMap((pattern) => globSync(pattern, { cwd: folder }));
  return {
    LD_LIBRARY_PATH: dirs.map((dir) => join(folder, dir)).join(':'),
    PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
  };
};

/** A program of an unpacked folder, or the machine's own when it was there before. */
export const debianProgram = (folder: string, name: string): string => {
  const unpacked = join(folder, 'usr/bin', name);
  return existsSync(unpacked) ? unpacked : join('/usr/bin', name);
};
