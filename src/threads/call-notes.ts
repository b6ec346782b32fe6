/** Notes the calls of a fetch thread in the ledger: each before it leaves, and when it has ended. */

import { join } from 'node:path';
import type { Call, Fetcher } from '../fetch/fetcher.ts';
import type { PageCall } from '../frontier/parts.ts';
import type { Exchange } from '../model/exchange.ts';
import { LEDGER_DIR, type NoteKind } from '../observe/ledger/format.ts';
import { openLedger, type Ledger } from '../observe/ledger/writer.ts';
import { robotsDigest } from '../politeness/robots-digest.ts';
import { ThreadFault, toFault } from './fault.ts';
import type { FetchStart } from './messages.ts';

export interface NotedFetch {
  readonly fetch: (call: PageCall, signal: AbortSignal) => Promise<Exchange>;
  close(): Promise<void>;
}

export const createNotedFetch = (fetcher: Pick<Fetcher, 'fetch'>, start: FetchStart, now: () => number): NotedFetch => {
  const { settings, dir, name, userAgent, productToken, version } = start;
  if (settings.ledger === 'off') return { fetch: fetcher.fetch, close: async () => {} };
  const { delayMs, timeoutMs, keep } = settings;
  const ledger = openLedger({
    dir: join(dir, LEDGER_DIR),
    now,
    thread: name,
    head: { version, userAgent, productToken, delayMs, timeoutMs, keep },
  });
  return { fetch: (call, signal) => noted(fetcher, ledger, { call, signal }), close: ledger.close };
};

/** What came of an address that was dialled before the next one of the same host. */
const UNREACHED = 'refused';

const noted = async (
  fetcher: Pick<Fetcher, 'fetch'>,
  ledger: Ledger,
  { call, signal }: { call: PageCall; signal: AbortSignal },
): Promise<Exchange> => {
  const { about } = call;
  let left: { readonly number: number; readonly at: number } | null = null;
  const ended = (at: number, answeredAt: number | null, result: string): void => {
    if (left)
      ledger.ended({
        number: left.number,
        tookMs: Math.floor(at) - left.at,
        answeredMs: answeredAt === null ? null : Math.floor(answeredAt) - left.at,
        result,
      });
  };
  const leaving: Call['leaving'] = (address, startedAt) => {
    ended(startedAt, null, UNREACHED);
    const at = Math.floor(startedAt);
    left = {
      at,
      number: leave(ledger, {
        at,
        address,
        lease: about.lease,
        kind: kindOf(call),
        delayMs: Math.floor(about.delayMs),
        restMs: Math.floor(about.restMs),
        rules: about.robots ? robotsDigest(about.robots) : '',
        site: about.site,
        url: call.url,
      }),
    };
  };
  const exchange = await fetcher.fetch({ ...call, leaving }, signal);
  if (exchange.kind === 'answered') ended(exchange.endedAt, exchange.answeredAt, String(exchange.status));
  else ended(exchange.endedAt, null, exchange.cause);
  return exchange;
};

const kindOf = ({ kind, about }: PageCall): NoteKind => (kind === 'robots' && about.redirected ? 'follow' : kind);

/** What stops the crawl, not only this thread: no thread could note a call. */
const leave = (ledger: Ledger, call: Parameters<Ledger['leave']>[0]): number => {
  try {
    return ledger.leave(call);
  } catch (error) {
    throw new ThreadFault({ ...toFault(error), advice: (error as { advice?: string }).advice ?? '' });
  }
};
