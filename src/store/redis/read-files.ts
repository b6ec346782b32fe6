/**
 * What Redis says of links that lie in files, for those who only look: lines, leases and links given up are references
 * there.
 */

import type { LineFiles } from './line-files.ts';
import type { Waiting } from '../link-text.ts';
import { readLeasedLine, readReference, type Reference } from './reference.ts';

/**
 * The links of a reference that still wait; null when they cannot be read. `headAt` is the next line of a site's first
 * reference, 0 for its own.
 */
export const linksInFiles = (
  files: LineFiles,
  text: string,
  { site, headAt }: { readonly site: string; readonly headAt: number },
): Waiting[] | null => {
  const reference = readReference(text);
  return read(files, headAt > 0 ? { ...reference, from: headAt } : reference, site);
};

/**
 * The link of a lease: its number, when it runs out, file, offset, line, tries; an empty line; who holds it. Null when
 * it cannot be read.
 */
export const leasedInFiles = (files: LineFiles, lease: string, site: string): Waiting | null => {
  const [, , ...line] = lease.slice(0, lease.indexOf('\n')).split(' ');
  return read(files, readLeasedLine(line.join(' ')), site)?.[0] ?? null;
};

/** A link given up whose row is not written yet: site, moment, reference. Null when it cannot be read. */
export const givenUpInFiles = (
  files: LineFiles,
  text: string,
): { readonly at: number; readonly waiting: Waiting } | null => {
  const [site, at, reference] = text.split('\n') as [string, string, string];
  const [waiting] = read(files, readReference(reference), site) ?? [];
  return waiting ? { at: Number(at), waiting } : null;
};

const read = (files: LineFiles, reference: Reference, site: string): Waiting[] | null => {
  const isOne =
    Object.values(reference).every((part) => typeof part === 'object' || Number.isInteger(part)) &&
    reference.from < reference.to;
  if (!isOne) return null;
  try {
    return files.waiting(reference, site);
  } catch {
    return null;
  }
};
