/** Two processes on one crawl in a shared store, each with a directory of its own, on one stage. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDead } from '../../src/archive/dead-list.ts';
import { kindOf } from '../../src/store/address.ts';
import { archivedIn, type Archived } from './archive-check.ts';
import { runBinary, startBinary, type Ran, type Running } from './binary.ts';
import { judgeArchive, judgeRequests, judgeLedger, wrongStates, type Judgement } from './crash-judge.ts';
import { flagWords, type Flags, type ListedPage, type Stage, type Status } from './stage.ts';

export const MEMBERS = ['first', 'second'] as const;
export type MemberName = (typeof MEMBERS)[number];

export interface Members {
  readonly stage: Stage;
  readonly dirs: Readonly<Record<MemberName, string>>;
  /** Whether its directory is one of a crawl. */
  isMade(member: MemberName): boolean;
  /** By `crawl` or `join` while its directory is new, by `resume` from then on; the flags are for any of them. */
  start(member: MemberName, flags?: Flags): Running;
  /** Any command, with the address of the store in its environment. */
  gossamer(...args: readonly string[]): Promise<Ran>;
  /** Why the crawl is not whole; empty when it is. All processes must be stopped. */
  verify(): Promise<string>;
  /**
   * The crawl is finished: is every page settled and archived once, over both directories, and was every site visited
   * in its time?
   */
  judge(delayMs: number): Promise<Judgement>;
}

export interface MembersOptions {
  /** The address of the store, with its password. */
  readonly url: string;
  readonly name: string;
  /** For the crawl; the other member takes them over from there. */
  readonly settings: Flags;
}

export const membersOn = (stage: Stage, { url, name, settings }: MembersOptions): Members => {
  const dirs = { first: stage.dir, second: join(stage.home, 'second') };
  const options = { cwd: stage.home, env: { ...process.env, GOSSAMER_STORE: url } };
  const gossamer = (...args: readonly string[]): Promise<Ran> => runBinary(args, options);
  const isMade = (member: MemberName): boolean => existsSync(join(dirs[member], 'crawl.json'));
  const linesOf = async <T>(...args: readonly string[]): Promise<T[]> => {
    const ran = await gossamer(...args);
    if (ran.code !== 0) throw new Error(`${args.join(' ')} ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`);
    return ran.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  };

  const wordsFor = (member: MemberName, flags: Flags): string[] => {
    if (isMade(member)) return ['resume', dirs[member], ...flagWords(flags)];
    if (member === 'first') return stage.crawlWords({ ...settings, name, ...flags });
    return ['join', dirs.second, ...flagWords({ name, ...flags })];
  };

  /** Rows of settled links: in PostgreSQL all are in one table, with Redis each member has its own. */
  const settledRows = async (): Promise<ListedPage[]> => {
    const asked = kindOf(url) === 'redis' ? MEMBERS : (['first'] as const);
    return (
      await Promise.all(asked.map((member) => linesOf<ListedPage>('pages', dirs[member], '--format', 'jsonl')))
    ).flat();
  };

  return {
    stage,
    dirs,
    isMade,
    gossamer,
    start: (member, flags = {}) => startBinary(wordsFor(member, flags), options),
    verify: async () => {
      // Killed when its directory was there and the store did not know of it: nothing is damaged, a resume begins it.
      const isUnbegun = ({ stderr }: Ran): boolean =>
        stage.served.record.requests.length === 0 && /has no crawl .* "gossamer resume" begins it/.test(stderr);
      const checked = await Promise.all(
        MEMBERS.filter(isMade).map(async (member) => ({
          member,
          ran: await gossamer('verify', dirs[member], '--json'),
        })),
      );
      return checked
        .filter(({ ran }) => ran.code !== 0 && !isUnbegun(ran))
        .map(({ member, ran }) => `verify of the ${member} ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`)
        .join('; ');
    },
    judge: async (delayMs) => {
      const [status] = await linesOf<Status>('status', dirs.first, '--json');
      const rows = await settledRows();
      const archive = judgeArchive(stage, (await Promise.all(MEMBERS.map((member) => livingIn(dirs[member])))).flat());
      const requests = judgeRequests(stage, delayMs);
      const ledger = await judgeLedger(
        stage,
        MEMBERS.map((member) => dirs[member]),
      );
      return {
        ...archive,
        ...requests,
        ...ledger,
        violations: [
          ...wrongStates(stage, status!),
          ...wrongRows(rows, status!),
          ...archive.violations,
          ...requests.violations,
          ...ledger.violations,
        ],
      };
    },
  };
};

const wrongRows = (rows: readonly ListedPage[], { settled }: Status): string[] => {
  const byUrl = Map.groupBy(rows, ({ url }) => url);
  const twice = [...byUrl]
    .filter(([, same]) => same.length > 1)
    .map(([url, same]) => `settled ${same.length} times: ${url}`);
  return rows.length === settled
    ? twice
    : [...twice, `${rows.length} rows of settled links, but ${settled} are settled`];
};

/** Records whose settlement was refused are on the list of dead ones: they belong to no page. */
const livingIn = async (dir: string): Promise<Archived[]> => {
  const dead = readDead(dir);
  const isDead = ({ file, offset }: Archived): boolean =>
    dead.some((span) => span.file === file && span.offset <= offset && offset < span.offset + span.bytes);
  return (await archivedIn(dir)).filter((record) => !isDead(record));
};

export const tailOf = ({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): string =>
  `${stdout.trim().slice(-1_500)} ${stderr.trim().slice(-1_500)}`;
