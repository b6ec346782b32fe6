/**
 * Prometheus and its promtool: the machine's own, or Debian's, unpacked; a server runs on a free port of loopback, in a
 * private folder.
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { PATIENCE_MS, until } from './until.ts';

interface Programs {
  readonly prometheus: string;
  readonly promtool: string;
  readonly env: NodeJS.ProcessEnv;
}

let found: Programs | null = null;
const programs = (): Programs => (found ??= installed() ?? unpacked());

const installed = (): Programs | null => {
  const [prometheus, promtool] = [findProgram('prometheus'), findProgram('promtool')];
  return prometheus && promtool ? { prometheus, promtool, env: process.env } : null;
};

const unpacked = (): Programs => {
  const folder = unpackDebian(['prometheus']);
  return {
    prometheus: join(folder, 'usr/bin/prometheus'),
    promtool: join(folder, 'usr/bin/promtool'),
    env: withLibraries(folder),
  };
};

/** Promtool's words about this; throws them when it is not content. */
export const promtool = (args: readonly string[], input = ''): string => {
  const { promtool: program, env } = programs();
  try {
    return execFileSync(program, args, { env, input, encoding: 'utf8', stdio: 'pipe', timeout: PROMTOOL_MS_MAX });
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(`promtool ${args.join(' ')}: ${stderr}${stdout}` || message, { cause: error });
  }
};
const PROMTOOL_MS_MAX = PATIENCE_MS;

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

export interface Prometheus {
  readonly url: string;
  /** The series that an instant query gives; throws what the server complains about. */
  ask(query: string): Promise<Sample[]>;
  /** Other places of its API, such as "targets". */
  get<T>(path: string): Promise<T>;
  close(): Promise<void>;
}

/** `dir` holds prometheus.yml and what that names. */
export const startPrometheus = async (dir: string): Promise<Prometheus> => {
  const { prometheus: program, env } = programs();
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=tsdb',
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ];
  // The kernel ends it with this process, also when that is killed and no longer runs its exit handlers.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], {
    cwd: dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const url = `http://${address}`;
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  };
  const get = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`, UNKEPT)).json()) as {
      status: string;
      error?: string;
      data: T;
    };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  try {
    await until('prometheus is ready', async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended with code ${child.exitCode}: ${said}`);
      return fetch(`${url}/-/ready`, UNKEPT).then(
        async (answer) => (await answer.text(), answer.ok),
        () => false,
      );
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    get,
    close,
    ask: async (query) => (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(query)}`)).result,
  };
};

/** No socket stays behind when the test ends. */
const UNKEPT = { headers: { connection: 'close' } };
