/** What can be wrong with a crawl on disk, and the list of what was found. */

export const DAMAGES = {
  identity: 'crawl.json cannot be read',
  'member-missing': 'the directory of a member that settled links was not given (only with --all)',
  'rows-missing': 'the directory of a member lacks rows of pages that it settled',
  seeds: 'seeds.txt cannot be read, or is shorter than what was loaded from it',
  database: 'the database is damaged',
  row: 'a row of the store contradicts the others',
  'file-missing': 'an archive file is not there',
  'file-short': 'an archive file ends before its settled end',
  'record-damaged': 'a record of the archive cannot be read',
  'record-missing': 'no record begins where a page has its place',
  'record-wrong': 'the record at the place of a page is not that of the page',
  'record-orphan': 'a record belongs to no page',
  'page-wrong': 'a page has no record though it was answered, or one though it was not, or a key that is not its own',
  'link-twice': 'a link is in two states',
  'link-unseen': 'a link is missing in the log of known URLs',
  'link-lost': 'a known URL is in no state',
  'queue-broken': 'the queue of a site is not whole',
  counter: 'a counter differs from the rows',
  store: 'the store contradicts itself',
} as const;

export type DamageKind = keyof typeof DAMAGES;

/** Only a copy helps against these: a repair would have to invent something. */
const BEYOND_REPAIR: Readonly<Partial<Record<DamageKind, string>>> = {
  'member-missing': 'give its directory, too; if that is gone for good, name it by --lost with --repair',
  identity: 'restore crawl.json from a copy',
  database:
    'restore the store from a copy; without one, start a new crawl from seeds.txt and keep the WARC files beside it',
  store:
    'restore the store from a copy; without one, start a new crawl from seeds.txt and keep the WARC files beside it',
  row: 'restore the store from a copy; without one, start a new crawl from seeds.txt and keep the WARC files beside it',
};

export interface Damage {
  readonly kind: DamageKind;
  /** One sentence: what, where, and of which URL. */
  readonly says: string;
  readonly file?: string;
  readonly offset?: number;
  readonly url?: string;
  /** Why it cannot be repaired, and what to do; absent when it can. */
  readonly advice?: string;
}

/** Damage that is named one by one; what comes after is counted. */
export const DAMAGE_NAMED_MAX = 50;

export interface Found {
  readonly named: readonly Damage[];
  readonly byKind: Readonly<Partial<Record<DamageKind, number>>>;
  readonly count: number;
  /** What to do about damage that cannot be repaired; empty when all of it can. */
  readonly advice: readonly string[];
  /** What a kill leaves and a resume clears: no damage. */
  readonly left: readonly string[];
}

export interface Finder extends Found {
  add(damage: Damage): void;
  leave(text: string): void;
}

/** Damage that is put right where the store is shared: pages whose records are gone wait again. */
const MENDED: ReadonlySet<DamageKind> = new Set([
  'file-missing',
  'file-short',
  'record-damaged',
  'record-missing',
  'record-wrong',
  'record-orphan',
  'page-wrong',
  'link-twice',
  'rows-missing',
]);

/** `advice` for damage that cannot be repaired where the store is shared. */
export const createFinder = (always?: string): Finder => {
  const named: Damage[] = [];
  const byKind: Partial<Record<DamageKind, number>> = {};
  const advice = new Set<string>();
  const left: string[] = [];
  let count = 0;
  return {
    named,
    byKind,
    left,
    get count() {
      return count;
    },
    get advice() {
      return [...advice];
    },
    add: (damage) => {
      count++;
      byKind[damage.kind] = (byKind[damage.kind] ?? 0) + 1;
      const cure = damage.advice ?? BEYOND_REPAIR[damage.kind] ?? (MENDED.has(damage.kind) ? undefined : always);
      if (cure !== undefined) advice.add(cure);
      if (named.length < DAMAGE_NAMED_MAX) named.push(cure === undefined ? damage : { ...damage, advice: cure });
    },
    leave: (text) => void left.push(text),
  };
};
