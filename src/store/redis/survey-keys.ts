/**
 * Looks at the names of all keys: is there one that no site and no counter accounts for? And what do members still have
 * to do?
 */

import { createFingerprintTable } from '../../lib/fingerprint-table.ts';
import { writeCount } from '../../lib/units.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { allKeys } from './all-keys.ts';
import { pairs } from './census.ts';
import { referenceOf } from './read-lines.ts';
import { count, type Counted, type Course } from './survey-course.ts';

/** Keys of a shard that are one each, and of which a member has one. */
const SINGLE = new Set(['count', 'due', 'lease', 'leased', 'parked', 'held', 'robots', 'batch', 'sites', 'files']);

export const surveyKeys = async (course: Course, member: string): Promise<void> => {
  const { look, wrong, keys, shards } = course;
  const met = createFingerprintTable(keys.size);
  const sets = await setsOf(course);
  /** Each with a shard where it has something. */
  const members = new Map<string, InShard>();
  for await (const names of allKeys(look)) {
    for (const name of names) {
      if (!met.add(fingerprint(name))) continue; // a scan may name a key twice
      const key = readKey(name);
      if (key === null) continue;
      const isOurs =
        key.shard < shards && (SINGLE.has(key.kind) || (key.kind === 'seen' && Number(key.of) < sets[key.shard]!));
      if (isOurs) continue;
      if (key.shard < shards && (key.kind === 'gone' || key.kind === 'mine'))
        members.set(`${key.shard} ${key.of}`, { shard: key.shard, member: key.of });
      else if (!keys.remove(fingerprint(name))) wrong(strayOf(key, name));
    }
  }
  if (keys.size > 0)
    wrong(
      `${writeCount(keys.size)} ${keys.size === 1 ? 'key' : 'keys'} of sites ${keys.size === 1 ? 'is' : 'are'} not found by a scan`,
    );
  let leased = 0;
  for (const of of members.values()) leased += await surveyMember(course, of, member);
  const links = course.counted.get('leased') ?? 0;
  if (leased !== links)
    wrong(
      `the members have ${writeCount(leased)} leased ${leased === 1 ? 'site' : 'sites'}, but ${writeCount(links)} ${links === 1 ? 'link is' : 'links are'} leased`,
    );
};

interface InShard {
  readonly shard: number;
  readonly member: string;
}

interface KeyParts {
  readonly shard: number;
  readonly kind: string;
  readonly of: string;
}

/** Null for what is of the whole crawl. */
const readKey = (name: string): KeyParts | null => {
  const [, shard, kind, of] = /^\{[^:}]*:(\d+)\}:([a-z]+):?([^]*)$/.exec(name) ?? [];
  return shard === undefined ? null : { shard: Number(shard), kind: kind!, of: of! };
};

const strayOf = ({ kind, of }: KeyParts, name: string): string => {
  if (kind === 'line') return `links of the site ${of} wait, but no site has them`;
  if (kind === 'site') return `the site ${of} is not on the list of sites`;
  return `nothing accounts for the key ${name}`;
};

/** How many small sets of known URLs each shard has. */
const setsOf = async ({ look, shards }: Course): Promise<number[]> => {
  const answers = (await look.wire.all(
    Array.from({ length: shards }, (_, shard) => ({ name: 'shard' as const, shard, args: [] })),
  )) as [unknown, string[]][];
  return answers.map(([, counters]) => Number(new Map(pairs(counters)).get('buckets') ?? 1));
};

/** Links that were given up and whose row is not written are settled. Gives how many sites the member leases there. */
const surveyMember = async (
  { look, rows, lines, counted, referred, meet, wrong }: Course,
  { shard, member }: InShard,
  own: string,
): Promise<number> => {
  const [[texts, leased]] = (await look.wire.all([{ name: 'ofMember', shard, args: [member] }])) as [
    [string[], number],
  ];
  for (const text of texts) {
    const [site = '', , second = ''] = text.split('\n');
    const reference = referenceOf({ site, text: second, headAt: 0 });
    if (reference) count(referred, `${shard} ${reference.file}`);
    const given = lines.givenUp(text);
    if (given === null) {
      wrong(`a link of the site ${site} that was given up cannot be read`);
      continue;
    }
    const { link } = given;
    if (member === own && rows.hasGivenUp(link.url, site)) continue;
    meet(link.url, site, true);
    count(counted, 'settled:gave-up');
  }
  return leased;
};

/** A file is deleted when nothing refers to it: what is referred to must be what is counted. */
export const surveyFiles = async ({ look, shards, referred, wrong }: Course): Promise<void> => {
  const answers = (await look.wire.all(
    Array.from({ length: shards }, (_, shard) => ({ name: 'filesOf' as const, shard, args: [''] })),
  )) as string[][];
  const said: Counted = new Map(
    answers.flatMap((flat, shard) =>
      pairs(flat).flatMap(([file, n]) =>
        file === 'opening' ? [] : [[`${shard} ${parseInt(file, 36)}`, Number(n)] as const],
      ),
    ),
  );
  for (const place of new Set([...said.keys(), ...referred.keys()])) {
    const [shard, file] = place.split(' ');
    const [says, is] = [said.get(place) ?? 0, referred.get(place) ?? 0];
    if (says !== is)
      wrong(`shard ${shard} counts ${writeCount(says)} lines of file ${file}, but refers to ${writeCount(is)}`);
  }
};
