/** A link that is to be taken in, as steps read it. */

import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { writeWaiting } from '../waiting-text.ts';

/** The fingerprint of a URL as Redis has it: a whole number with a sign. */
export const printOf = (url: string): string => String(BigInt.asIntN(64, fingerprint(url)));

/** A line of a run: fingerprint, 1 if the link goes first, the link. */
export const lineOf = (one: Link, tries: number): string =>
  `${printOf(one.url)} ${one.first ? 1 : 0} ${writeWaiting({ link: one, tries })}\n`;
