/** Notes the requests of a fetch thread in the ledger: each before it is sent, and when it has ended. */

import { join } from 'node:path';
import type { Fetcher, HttpRequest } from '../fetch/fetcher.ts';
import type { FetchPage, PageRequest } from '../visit/parts.ts';
import { LEDGER_DIR, type NotedRequest, type NoteKind } from '../ledger/format.ts';
import { openLedger, type Ledger } from '../ledger/writer.ts';
import { ThreadFault, toFault } from './fault.ts';
import type { FetchStart, SettingsNow } from './messages.ts';

/** The ledger of a fetch thread under these settings, of which its files tell; null with `--ledger off`. */
export const openThreadLedger = (
  { dir, name, version }: Pick<FetchStart, 'dir' | 'name' | 'version'>,
  { settings, userAgent, productToken }: SettingsNow,
  now: () => number,
): Ledger | null => {
  if (settings.ledger === 'off') return null;
  const { delayMs, timeoutMs, keep } = settings;
  return openLedger({
    dir: join(dir, LEDGER_DIR),
    now,
    thread: name,
    head: { version, userAgent, productToken, delayMs, timeoutMs, keep },
  });
};

/** The result of an address that was tried in vain before the next one of the same host. */
const UNREACHED = 'refused';

/** Sends requests by `fetch`, and notes each in the ledger. A request that cannot be noted is not sent. */
export const notedIn =
  (ledger: Ledger, fetch: Fetcher['fetch']): FetchPage =>
  async (request, signal) => {
    const { context } = request;
    let sent: { readonly number: number; readonly at: number } | null = null;
    const ended = (at: number, answeredAt: number | null, result: string): void => {
      if (sent)
        ledger.ended({
          number: sent.number,
          tookMs: Math.floor(at) - sent.at,
          answeredMs: answeredAt === null ? null : Math.floor(answeredAt) - sent.at,
          result,
        });
    };
    const onSend: HttpRequest['onSend'] = (address, startedAt) => {
      ended(startedAt, null, UNREACHED);
      const at = Math.floor(startedAt);
      sent = {
        at,
        number: note(ledger, {
          at,
          address,
          lease: context.lease,
          kind: kindOf(request),
          delayMs: Math.floor(context.delayMs),
          restMs: Math.floor(context.restMs),
          rules: context.rules ?? '',
          site: context.site,
          url: request.url,
          ...(context.entry === undefined ? {} : { entry: context.entry }),
          ...(context.rule ? { rule: { ...context.rule, delayMs: Math.floor(context.rule.delayMs) } } : {}),
        }),
      };
    };
    const exchange = await fetch({ ...request, onSend }, signal);
    if (exchange.kind === 'answered') ended(exchange.endedAt, exchange.answeredAt, String(exchange.status));
    else ended(exchange.endedAt, null, exchange.cause);
    return exchange;
  };

const kindOf = ({ kind, context }: PageRequest): NoteKind =>
  kind === 'robots' && context.redirected ? 'follow' : kind;

/** Gives the number of the request. A failure stops the whole crawl: no other thread could note a request either. */
const note = (ledger: Ledger, request: NotedRequest): number => {
  try {
    return ledger.sending(request);
  } catch (error) {
    throw new ThreadFault({ ...toFault(error), advice: (error as { advice?: string }).advice ?? '' });
  }
};
