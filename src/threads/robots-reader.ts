/** Where a robots.txt is read: a small one at once, others in a parse thread, or here in turns with everything else. */

import { finishedInTurns } from '../lib/steps.ts';
import type { Answered } from '../model/exchange.ts';
import { decodeText, decodeTextInSteps } from '../parse/page.ts';
import { parseRobots, parseRobotsInSteps, type RobotsRules } from '../politeness/robots.ts';

/** A robots.txt up to this size that is not packed is read at once: a millisecond at the most. Most are far smaller. */
const AT_ONCE_BYTES = 16 * 1024;

/** A robots.txt for a parse thread to read. */
export interface RobotsJob {
  readonly kind: 'robots';
  /** The lease of the visit: if reading ends its thread, this is what it died of. */
  readonly lease: number;
  readonly headers: Answered['headers'];
  readonly body: Uint8Array;
}

export type RobotsRead =
  | { readonly kind: 'read'; readonly rules: RobotsRules }
  /** The thread died with this job in it; `culprit` when the job was being worked on. */
  | { readonly kind: 'lost'; readonly culprit: boolean };

/** What a parse thread does with it. */
export const readRobotsJob = ({ headers, body }: RobotsJob, productToken: string): RobotsRead => {
  try {
    return { kind: 'read', rules: parseRobots(decodeText(headers, body), productToken) };
  } catch {
    return { kind: 'lost', culprit: true };
  }
};

export interface RobotsReaderOptions {
  readonly productToken: string;
  /** Reads it in another thread; null where there is none. */
  readonly elsewhere: ((job: RobotsJob) => Promise<RobotsRead>) | null;
}

/** What a robots.txt says to us; null when it cannot be read: it has ended the thread that tried. */
export type ReadRobots = (response: Answered, lease: number) => Promise<RobotsRules | null>;

export const createRobotsReader =
  ({ productToken, elsewhere }: RobotsReaderOptions): ReadRobots =>
  async ({ headers, body }, lease) => {
    if (body.length <= AT_ONCE_BYTES && (headers['content-encoding'] ?? '') === '')
      return parseRobots(decodeText(headers, body), productToken);
    const read = await elsewhere?.({ kind: 'robots', lease, headers, body });
    if (read?.kind === 'read') return read.rules;
    if (read?.culprit) return null;
    // No parse thread, or it died of something else.
    const text = await finishedInTurns(decodeTextInSteps(headers, body));
    return finishedInTurns(parseRobotsInSteps(text, productToken));
  };
