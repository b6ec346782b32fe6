/** Queues whose links lie in Redis itself, in blocks. */

import { StoreFault } from '../../contract/fault.ts';
import { readWaiting, readWaitingLines } from '../waiting-text.ts';
import { createAdmit } from './admit.ts';
import type { QueueParts, QueuePlace, QueueReader, Taken } from './queue.ts';

const broken = (site: string): StoreFault =>
  new StoreFault(`the queue of the site "${site}" is broken`, 'check the crawl by "gossamer verify"');

const link = ({ site, text, via }: Taken) => {
  const waiting = readWaiting(text, via, site);
  if (waiting === null) throw broken(site);
  return waiting;
};

export const storeReader: QueueReader = {
  link,
  links: ({ site, text, headAt }) => {
    const viaEnds = text.indexOf('\n');
    const lines = headAt > 0 ? after(text, headAt) : text.slice(viaEnds + 1);
    const links = viaEnds < 0 || lines === null ? null : readWaitingLines(lines, text.slice(0, viaEnds), site);
    if (links === null) throw broken(site);
    return links;
  },
  wrong: async function* () {},
  close: () => {},
};

/** Steps count bytes, and an address may be written in letters of more than one; null where no line begins. */
const after = (block: string, headAt: number): string | null => {
  const bytes = Buffer.from(block);
  return bytes[headAt - 2] === 0x0a ? bytes.toString('utf8', headAt - 1) : null;
};

export const openStoreQueue = (parts: QueueParts): QueuePlace => ({
  link,
  admit: createAdmit(parts),
  open: async (claims) => claims.map(({ taken }) => taken.map((one) => ({ ...link(one), rules: one.rules }))),
  notice: () => {},
  close: async () => {},
});
