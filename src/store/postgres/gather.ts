/** Gathers admissions: what several pages bring at about the same time goes to the server in one call. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import { send } from './admit.ts';
import type { Session } from './session.ts';

/**
 * From the begin of one call to that of the next, where several came together: a call costs the server more than the
 * links in it, and no page waits for long.
 */
const GATHER_MS = 25;
/** A call holds the sites of its links: not for much longer than one page's would. */
const LINKS_MAX = 1_000;

interface Waiting {
  readonly links: readonly Link[];
  readonly siteWaitingMax: number | null;
  readonly resolve: (answer: Admitted) => void;
  readonly reject: (error: unknown) => void;
}

/** One call at a time; what comes meanwhile is the next one. Who comes alone is not kept waiting. */
export const createGatherer = (
  session: Session,
): ((links: readonly Link[], siteWaitingMax: number | null) => Promise<Admitted>) => {
  let waiting: Waiting[] = [];
  let isSending = false;

  const take = (): Waiting[] => {
    const [first] = waiting;
    let [count, links] = [0, 0];
    for (const one of waiting) {
      if (one.siteWaitingMax !== first!.siteWaitingMax || (count > 0 && links + one.links.length > LINKS_MAX)) break;
      links += one.links.length;
      count++;
    }
    const some = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return some;
  };

  const sendAll = async (): Promise<void> => {
    isSending = true;
    while (waiting.length > 0) {
      const sentAt = performance.now();
      const some = take();
      try {
        const answers = await send(
          session,
          some.map(({ links }) => links),
          some[0]!.siteWaitingMax,
        );
        some.forEach(({ resolve }, i) => void resolve(answers[i]!));
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
      const restMs = sentAt + GATHER_MS - performance.now();
      if (restMs > 0 && (some.length > 1 || waiting.length > 0) && linksIn(waiting) < LINKS_MAX)
        await sleep(restMs, null, { ref: false });
    }
    isSending = false;
  };

  return (links, siteWaitingMax) =>
    new Promise((resolve, reject) => {
      session.lately.note(links, siteWaitingMax);
      waiting.push({ links, siteWaitingMax, resolve, reject });
      if (!isSending) void sendAll();
    });
};

const linksIn = (waiting: readonly Waiting[]): number => waiting.reduce((sum, { links }) => sum + links.length, 0);
