/** Reads queues whose links lie in files, for those who only look. */

import { StoreFault } from '../../../contract/fault.ts';
import { plural, writeCount } from '../../../lib/units.ts';
import type { Waiting } from '../../../model/waiting.ts';
import { FRONTIER_DIR, pathOf } from '../../files.ts';
import type { StorePlace } from '../../options.ts';
import { readLease, type Element, type QueueReader, type Taken } from '../queue.ts';
import { pairs, type Wire } from '../wire.ts';
import { openLinkFiles, type LinkFiles } from './links.ts';
import { linksIn, readReference, readTaken, type Reference } from './reference.ts';
import { readFiles } from './session.ts';

const SITES_AT_ONCE = 500;

/** Throws a StoreFault when it cannot be read. */
export const linkIn = (files: LinkFiles, { site, text }: Taken): Waiting =>
  files.waiting(readable(readTaken(text), site), site)[0]!;

const readable = (reference: Reference | null, site: string): Reference => {
  if (reference === null)
    throw new StoreFault(`the queue of the site "${site}" is broken`, 'check the crawl by "gossamer verify"');
  return reference;
};

/** What of an element still waits; null for a text that is no reference. */
const leftOf = ({ text, headAt }: Pick<Element, 'text' | 'headAt'>): Reference | null => {
  const reference = readReference(text);
  const from = headAt > 0 ? headAt : reference?.from;
  return reference && from! < reference.to ? { ...reference, from: from! } : null;
};

export const openFilesReader = (wire: Wire, { dir }: StorePlace): QueueReader => {
  const files = openLinkFiles(pathOf({ dir }, FRONTIER_DIR));
  return {
    link: (taken) => linkIn(files, taken),
    links: (element) => files.waiting(readable(leftOf(element), element.site), element.site),
    wrong: (shards) => filesWrong(wire, shards),
    close: () => files.close(),
  };
};

/** A file is deleted when nothing refers to it: what is referred to must be what is counted. */
async function* filesWrong(wire: Wire, shards: number): AsyncGenerator<string, void, undefined> {
  const { byShard } = await readFiles(wire, shards);
  for (const [shard, counted] of byShard.entries()) {
    const referred = new Map<number, number>();
    for await (const reference of referencesIn(wire, shard))
      if (reference) referred.set(reference.file, (referred.get(reference.file) ?? 0) + linksIn(reference));
    for (const file of new Set([...counted.keys(), ...referred.keys()])) {
      const [says, is] = [counted.get(file) ?? 0, referred.get(file) ?? 0];
      if (says !== is)
        yield `shard ${shard} counts ${plural(says, 'link')} of file ${file}, but refers to ${writeCount(is)}`;
    }
  }
}

/** From queues, leases, and links that were given up; null for what is none. */
async function* referencesIn(wire: Wire, shard: number): AsyncGenerator<Reference | null, void, undefined> {
  for (let from = 0; ; from += SITES_AT_ONCE) {
    const [names] = (await wire.read(shard, ['LRANGE', 'sites', from, from + SITES_AT_ONCE - 1])) as [string[]];
    const heads = await wire.read(shard, ...names.map((name) => ['HGET', `site:${name}`, 'o'] as const));
    const queues = await wire.read(shard, ...names.map((name) => ['LRANGE', `queue:${name}`, 0, -1] as const));
    for (const [n, texts] of (queues as string[][]).entries())
      for (const [i, text] of texts.entries()) yield leftOf({ text, headAt: i === 0 ? Number(heads[n]) : 0 });
    if (names.length < SITES_AT_ONCE) break;
  }
  const [leases, owner] = (await wire.read(shard, ['HGETALL', 'leased'], ['HKEYS', 'batch'])) as [string[], string[]];
  for (const [site, written] of pairs(leases)) yield readTaken(readLease(written, site)?.taken.text ?? '');
  for (const member of owner) {
    const [given] = (await wire.read(shard, ['LRANGE', `gone:${member}`, 0, -1])) as [string[]];
    for (const text of given) yield readTaken(text.slice(text.lastIndexOf('\n') + 1));
  }
}
