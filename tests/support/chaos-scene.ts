/** The scene of one chaos row: a small web, a store, and three members that are started, hit and resumed. */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GOSSAMER, startBinary, type Ran, type Running } from './binary.ts';
import { MEMBER_COUNT, type Link, type MemberIndex, type Network } from './chaos-network.ts';
import { pause, type ChaosStore } from './chaos-store.ts';
import type { Hit, WebAsk, WebCount, WebReady } from './chaos-web.ts';
import { flagWords, type Flags } from './stage.ts';

export const DELAY_MS = 4_000;
/** A lease lasts seven times as long and 30 s more. */
export const TIMEOUT_MS = 3_000;
/** A member that ended although it should not have is resumed so often. */
const RESUMES_MAX = 3;
const RESUME_MS = 1_000;
/** A member that has sent so many takes part. */
const BEGUN_REQUESTS = 6;
const STARTED_MS_MAX = 60_000;
const COMMAND_MS_MAX = 120_000;
const SAID_MAX = 1_200;

export const MEMBER_NAMES = ['first', 'second', 'third'] as const;
export const ALL_MEMBERS: readonly MemberIndex[] = Array.from({ length: MEMBER_COUNT }, (_, n) => n);

export interface Web {
  readonly ready: WebReady;
  count(): Promise<WebCount>;
  log(): Promise<Hit[]>;
  close(): void;
}

export const startWeb = async (words: readonly (string | number)[]): Promise<Web> => {
  const program = fileURLToPath(new URL('chaos-web.ts', import.meta.url));
  const child: ChildProcess = fork(program, words.map(String), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the small web has ended')));
  gone.catch(() => {}); // whoever asks next is told
  let line: Promise<unknown> = Promise.resolve();
  const told = <T>(): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>();
    child.once('message', (message) => resolve(message as T));
    return Promise.race([promise, gone]);
  };
  /** One question at a time. */
  const ask = <T>(what: WebAsk): Promise<T> => {
    const answer = line.then(() => {
      child.send(what);
      return told<T>();
    });
    line = answer.catch(() => {});
    return answer;
  };
  return {
    ready: await told<WebReady>(),
    count: () => ask('count'),
    log: () => ask('log'),
    close: () => void child.kill('SIGKILL'),
  };
};

interface SceneOptions {
  readonly network: Network;
  readonly store: ChaosStore;
  readonly web: Web;
  readonly home: string;
  readonly name: string;
}

export class Scene {
  readonly network: Network;
  readonly store: ChaosStore;
  readonly web: Web;
  readonly home: string;
  /** What went wrong that the web cannot see. */
  readonly violations: string[] = [];
  /** What is worth a line below the table. */
  readonly remarks: string[] = [];
  /** Members that are not to be resumed, whatever ended them. */
  readonly #left = new Set<MemberIndex>();
  readonly #runs = new Map<MemberIndex, Running>();
  readonly #resumes = new Map<MemberIndex, number>();
  readonly #toResume = new Set<MemberIndex>();
  readonly #expected = new Set<Running>();
  readonly #name: string;
  /** Settings, with the address of the small web. */
  readonly #settings: Flags;

  constructor({ network, store, web, home, name }: SceneOptions) {
    [this.network, this.store, this.web, this.home, this.#name] = [network, store, web, home, name];
    writeFileSync(join(home, 'seeds.txt'), `${web.ready.seeds.join('\n')}\n`);
    this.#settings = {
      email: 'chaos@example.org',
      name,
      delay: `${DELAY_MS}ms`,
      timeout: `${TIMEOUT_MS}ms`,
      'trouble-delay': `${DELAY_MS}ms`,
      'park-after': 20,
      'disk-reserve': '0',
      'connect-to': `*:80:${network.webHost}:${web.ready.port}`,
      fetchers: 1,
      parsers: 1,
    };
  }

  dirOf(member: MemberIndex): string {
    return join(this.home, MEMBER_NAMES[member]!);
  }

  dirs(): string[] {
    return ALL_MEMBERS.map((member) => this.dirOf(member)).filter((dir) => existsSync(join(dir, 'crawl.json')));
  }

  runOf(member: MemberIndex): Running {
    return this.#runs.get(member)!;
  }

  /** How many members run now. */
  up(): number {
    return [...this.#runs.values()].filter((run) => !run.isOver()).length;
  }

  /** The first one begins the crawl, the others join it; whoever has a directory resumes. */
  start(member: MemberIndex): void {
    const dir = this.dirOf(member);
    const words = existsSync(join(dir, 'crawl.json'))
      ? ['resume', dir]
      : member === 0
        ? ['crawl', join(this.home, 'seeds.txt'), '--dir', dir, ...flagWords(this.#settings)]
        : ['join', dir, ...flagWords({ name: this.#name, fetchers: 1, parsers: 1, 'disk-reserve': '0' })];
    this.#left.delete(member);
    this.#runs.set(
      member,
      startBinary(words, {
        cwd: this.home,
        command: [...this.network.enter(member), process.execPath, GOSSAMER],
        env: { ...process.env, GOSSAMER_STORE: this.store.url },
      }),
    );
  }

  /** Another command about the crawl, run beside the store. */
  async gossamer(...words: readonly string[]): Promise<Ran> {
    return startBinary(words, {
      cwd: this.home,
      env: { ...process.env, GOSSAMER_STORE: this.store.url },
      deadlineMs: COMMAND_MS_MAX,
    }).ended;
  }

  /** The first member, and when the crawl is in the store those that join. */
  async startAll(members: readonly MemberIndex[]): Promise<void> {
    this.start(0);
    await this.sends([0], 1);
    for (const member of members) if (member !== 0) this.start(member);
    await this.sends(members, BEGUN_REQUESTS);
  }

  /** Waits until each of them has sent so many requests. */
  async sends(members: readonly MemberIndex[], requests: number): Promise<void> {
    const giveUpAt = performance.now() + STARTED_MS_MAX;
    for (;;) {
      const { from, requests: all } = await this.web.count();
      const sent = (member: MemberIndex): number =>
        this.network.kind === 'loopback'
          ? Math.floor(all / members.length)
          : Object.entries(from).reduce((sum, [at, n]) => sum + (this.network.memberAt(at) === member ? n : 0), 0);
      if (members.every((member) => sent(member) >= requests)) return;
      const over = members.find((member) => this.#runs.get(member)?.isOver());
      if (over !== undefined || performance.now() > giveUpAt)
        throw new Error(
          `${over === undefined ? 'a member' : `the ${MEMBER_NAMES[over]}`} did not begin: ` +
            members.map((member) => tailOf(this.#runs.get(member)?.said() ?? '')).join(' | '),
        );
      await pause(100);
    }
  }

  async kill(member: MemberIndex): Promise<void> {
    const run = this.runOf(member);
    this.#expected.add(run);
    this.#left.add(member);
    run.send('SIGKILL');
    await run.ended;
  }

  /** Cuts these links; on loopback the door to the store is shut instead. */
  cut(member: MemberIndex, links: readonly Link[]): void {
    if (this.network.kind === 'namespaces') this.network.cut(member, links);
    else this.store.shut!(this.runOf(member).pid);
  }

  mend(member: MemberIndex): void {
    if (this.network.kind === 'namespaces') this.network.mend(member);
    else this.store.open!();
  }

  /**
   * Looks after members that ended: all but those that were killed must be finished. Others are resumed when that makes
   * sense again.
   */
  async look(mayResume: boolean): Promise<void> {
    for (const [member, run] of this.#runs) {
      if (!run.isOver()) continue;
      if (mayResume && this.#toResume.delete(member)) {
        await pause(RESUME_MS);
        this.start(member);
        continue;
      }
      if (this.#expected.has(run)) continue;
      this.#expected.add(run);
      const ran = await run.ended;
      if (ran.code === 0) continue;
      this.violations.push(
        `the ${MEMBER_NAMES[member]} ended with ${ran.code ?? ran.signal}: ${tailOf(ran.stdout + ran.stderr)}`,
      );
      const resumes = this.#resumes.get(member) ?? 0;
      if (this.#left.has(member) || resumes >= RESUMES_MAX) continue;
      this.#resumes.set(member, resumes + 1);
      this.#toResume.add(member);
    }
  }

  /** Whether no member is under way any more, or about to be. */
  isOver(): boolean {
    return this.#toResume.size === 0 && [...this.#runs.values()].every((run) => run.isOver());
  }

  /** Ends what still runs, in order first. */
  async stop(): Promise<void> {
    const left = [...this.#runs.values()].filter((run) => !run.isOver());
    for (const run of left) {
      this.#expected.add(run);
      run.send('SIGCONT');
      run.send('SIGTERM');
    }
    const hard = setTimeout(() => left.forEach((run) => run.send('SIGKILL')), 20_000);
    await Promise.all(left.map((run) => run.ended));
    clearTimeout(hard);
  }
}

/** What it complained about last; otherwise its last lines. */
export const tailOf = (said: string): string => {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const complaints = lines.filter((line) => /^(?:warn|error|gossamer:|FATAL)/.test(line));
  return (complaints.length > 0 ? complaints.slice(-3) : lines.slice(-6)).join(' / ').slice(-SAID_MAX);
};
