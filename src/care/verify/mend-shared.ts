/** Puts a crawl right whose store is shared: exactly the pages that are lost wait again. */

import type { StoredPage } from '../../contract/walk.ts';
import { keepIdentity } from '../../folder/folder.ts';
import { shortName } from '../../folder/gathering.ts';
import { ROWS_APART } from '../../folder/joined-crawl.ts';
import { whereIs } from '../../folder/roster.ts';
import { UsageError } from '../../model/read-settings.ts';
import { isArchived } from '../../model/page.ts';
import type { DeadSpan } from '../../archive/dead-list.ts';
import type { Part, Parts } from './parts.ts';
import { mendArchive, sentencesOf, type PartPlan, type Plan, type Told } from './plan.ts';

/** Pages that are taken back in one go: one transaction of a server. */
const PAGES_AT_ONCE = 500;

export interface Mend {
  readonly plan: Plan;
  /** Members whose machines are gone for good. */
  readonly lost: readonly string[];
  readonly onProgress: (linksDone: number) => void;
}

/** The members that a person named by the first characters of their ids. Throws a UsageError for a wrong one. */
export const lostMembers = ({ parts, roster, isRowsByMember }: Parts, named: readonly string[]): string[] => {
  const lost = named.map((name) => {
    const meant = roster.filter(({ member }) => member.startsWith(name));
    if (meant.length !== 1)
      throw new UsageError(
        `--lost "${name}" names ${meant.length === 0 ? 'no member' : 'several members'} of this crawl: "gossamer members ${parts[0]!.dir}" lists them`,
      );
    const [{ member, isLive }] = meant as [(typeof roster)[number]];
    const given = parts.find((part) => part.member === member);
    if (given) throw new UsageError(`the member "${name}" is not lost, its directory is given: "${given.dir}"`);
    if (isLive) throw new UsageError(`the member "${name}" is not lost, it is at work: stop it, or omit --lost`);
    return member;
  });
  const open = roster.filter(
    ({ member, settled }) => settled > 0 && !lost.includes(member) && !parts.some((part) => part.member === member),
  );
  // What nobody else has is known only when all others are looked at.
  if (lost.length > 0 && isRowsByMember && open.length > 0)
    throw new UsageError(
      `what was lost is known only when all other members are looked at: give ${open.map(whereIs).join(', ')}, too`,
    );
  return lost;
};

/** Each store step may be repeated; the archives come last. */
export const mendShared = async (all: Parts, { plan, lost, onProgress }: Mend): Promise<string[]> => {
  checkIdle(all);
  const told: Told[] = [];
  const counted = { back: 0, dropped: 0, forgotten: 0 };
  const note = (n: number): void => onProgress((counted.back += n));
  const dead = new Map<Part, DeadSpan[]>();
  for (const [i, part] of all.parts.entries()) {
    const { back, drop, spans } = rowsOf(all, plan, i);
    dead.set(part, spans);
    counted.dropped += await putBack(part, {
      isBack: ({ row, url }) => back.has(row) && !drop.has(url),
      drop,
      note,
      spans,
    });
  }
  if (lost.length > 0 && !all.isRowsByMember)
    await putBack(all.parts[0]!, { isBack: (page) => isArchived(page) && lost.includes(page.member ?? ''), note });
  counted.forgotten = await forget(all, plan, lost);
  for (const member of lost) await mendingOf(all.parts[0]!).lose(member);
  if (counted.forgotten > 0) for (const part of all.parts) await mendingOf(part).recount();
  for (const [i, part] of all.parts.entries()) {
    const { end, plan: archive } = plan.archives[i] as PartPlan;
    await mendingOf(part).endArchive(end);
    told.push(...(await mendArchive(part.crawl, { dir: part.dir, end, dead: [...archive.dead, ...dead.get(part)!] })));
  }
  return [
    ...sentencesOf([
      [counted.back, 'page waits again', 'pages wait again'],
      [
        counted.dropped,
        'row of a page whose link waits again is gone',
        'rows of pages whose links wait again are gone',
      ],
      [
        counted.forgotten,
        'URL that was lost is not known any more, so that it can be found again',
        'URLs that were lost are not known any more, so that they can be found again',
      ],
      ...summed(told),
    ]),
    ...(counted.forgotten > 0 ? [FOUND_AGAIN] : []),
    ...lost.map((member) => `the member ${shortName(member)} has no pages any more`),
  ];
};

const FOUND_AGAIN =
  'the next resume of each directory takes its seeds again and reads its archived pages for links to them; what only a lost page linked to is found when that one is fetched';

const summed = (told: readonly Told[]): Told[] =>
  [...Map.groupBy(told, ([, one]) => one).values()].map((same) => {
    const [, one, many] = same[0]!;
    return [same.reduce((sum, [n]) => sum + n, 0), one, many];
  });

/** Whoever works on the crawl would see it change under its hands. */
const checkIdle = ({ roster, parts }: Parts): void => {
  const live = roster.find(({ member, isLive }) => isLive && !parts.some((part) => part.member === member));
  if (live)
    throw new UsageError(
      `the member ${shortName(live.member)} (${whereIs(live)}) is at work, or was a moment ago: stop all members, wait some seconds, then repair`,
    );
};

const mendingOf = ({ crawl }: Part): NonNullable<Part['crawl']['mend']> => {
  if (crawl.mend) return crawl.mend;
  throw new UsageError(
    'the waiting links of this crawl lie in files, and it cannot be repaired: omit --repair, and restore what is damaged from a copy',
  );
};

interface Rows {
  /** Rows of this directory that go, and whose links wait again. */
  readonly back: ReadonlySet<number>;
  /** Links that wait, though there is a row of them. */
  readonly drop: ReadonlySet<string>;
  readonly spans: DeadSpan[];
}

/** A survey numbers the rows of all directories; each directory has its own numbers. */
const rowsOf = ({ isRowsByMember }: Parts, { rows, archives }: Plan, nth: number): Rows => {
  const own = [...rows.pagesBack].flatMap((row) => {
    if (!isRowsByMember) return nth === 0 ? [row] : [];
    return Math.floor(row / ROWS_APART) === nth ? [row % ROWS_APART] : [];
  });
  return {
    back: new Set([...archives[nth]!.plan.pagesBack, ...own]),
    drop: isRowsByMember ? rows.waitingToo : new Set(),
    spans: [],
  };
};

interface PuttingBack {
  readonly isBack: (page: StoredPage) => boolean;
  readonly drop?: ReadonlySet<string>;
  readonly note: (pages: number) => void;
  /** Records of rows that go without being damaged. */
  readonly spans?: DeadSpan[];
}

/** Gives how many rows went whose links wait already. */
const putBack = async (part: Part, { isBack, drop = new Set(), note, spans = [] }: PuttingBack): Promise<number> => {
  const mend = mendingOf(part);
  let back: StoredPage[] = [];
  const dropped: number[] = [];
  const takeBack = async (): Promise<void> => {
    if (back.length > 0) await mend.takeBack(back);
    note(back.length);
    back = [];
  };
  for await (const found of part.crawl.walk(['pages'])) {
    if (found.kind !== 'pages') continue;
    for (const page of found.pages) {
      if (isBack(page)) back.push(page);
      if (!drop.has(page.url)) continue;
      dropped.push(page.row);
      if (isArchived(page))
        spans.push({
          file: page.warc_file,
          offset: page.warc_offset,
          bytes: page.warc_group_length,
          why: `its link waits again: ${page.url}`,
        });
    }
    if (back.length >= PAGES_AT_ONCE) await takeBack();
  }
  await takeBack();
  if (dropped.length > 0) await mend.dropRows(dropped);
  return dropped.length;
};

/** Links that are settled, and whose rows are in no directory: they must be found again. */
const forget = async (
  all: Parts,
  { whole: { lost, unmet, census }, archives }: Plan,
  gone: readonly string[],
): Promise<number> => {
  // What a member that is not given has settled is not lost.
  const isKnown = all.notGiven.every(({ member }) => gone.includes(member));
  if (!all.isRowsByMember || unmet.links === 0 || !isKnown) return 0;
  const forgotten = await mendingOf(all.parts[0]!).forget({
    has: (print) => lost.has(print),
    settled: unmet.settled,
    pages: unmet.pages,
    archivedBytes: Math.max(0, census.archivedBytes - archives.reduce((sum, one) => sum + one.archivedBytes, 0)),
  });
  // As after a wider scope: links that the pages have are taken again.
  for (const { dir, identity } of all.parts) if (identity) keepIdentity(dir, { ...identity, widened: true });
  return forgotten;
};
