/** The real binary in a process of its own, as a person would start it. */

import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const GOSSAMER = fileURLToPath(new URL('../../bin/gossamer.js', import.meta.url));

// What a developer set for crawls of their own is none of a test's business.
process.env.XDG_CONFIG_HOME = join(tmpdir(), 'gossamer-no-such-folder');
delete process.env.GOSSAMER_EMAIL;

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  /** Resolves when the process is gone and all its output was read. */
  readonly ended: Promise<Ran>;
  /** Whether it is gone. */
  isOver(): boolean;
  send(signal: NodeJS.Signals): void;
  /** What it said so far, both outputs. */
  said(): string;
}

export interface BinaryOptions {
  readonly cwd?: string;
  /** What is executed, with its first arguments; by default this Node and the binary of this clone. */
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** For runs that are meant to take long. */
  readonly deadlineMs?: number;
}

/**
 * Far above what any run takes on the slowest machine: sites rest ten times as long as they take to answer. A process
 * that hangs is killed, and shows as the signal SIGKILL.
 */
const DEADLINE_MS = 900_000;

const living = new Set<ChildProcess>();

export const startBinary = (args: readonly string[], options: BinaryOptions = {}): Running => {
  const [file, ...first] = options.command ?? [process.execPath, GOSSAMER];
  const child = spawn(file as string, [...first, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: options.env ?? process.env,
  });
  living.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), options.deadlineMs ?? DEADLINE_MS);
  let over = false;
  return {
    pid: child.pid ?? 0,
    isOver: () => over,
    said: () => output.stdout + output.stderr,
    send: (signal) => void child.kill(signal),
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => (over = true));
      child.once('close', (code, signal) => {
        over = true;
        clearTimeout(timer);
        living.delete(child);
        resolve({ code, signal, ...output });
      });
    }),
  };
};

export const runBinary = (args: readonly string[], options: BinaryOptions = {}): Promise<Ran> =>
  startBinary(args, options).ended;

/** A test that failed half-way may have left some. */
export const endBinaries = (): void => {
  for (const child of living) child.kill('SIGKILL');
};
