/**
 * All that happens to one HTTP request of a fetch thread, from the visit that wants it to the socket it is sent on:
 *
 *   visit           decides what to request, and whether robots.txt allows it   visit/visit.ts
 *   lease deadline  nothing is sent once the visit's lease is about to run out  visit/deadline.ts
 *   judged          a failure while this machine is cut off blames nobody       visit/reach.ts
 *   metered         the exchange is counted in the metrics                      below
 *   timed           the longest request is known, also while it is under way    below
 *   noted           in the ledger, before it is sent and when it has ended      noted-requests.ts
 *   fetcher         looks up the host, waits for a socket, reads the response   fetch/fetcher.ts, fetch/request.ts
 *   connection      one socket, plain or TLS                                    fetch/connection.ts
 *
 * The request goes down the list, and the exchange that comes of it goes back up.
 */

import type { Fetcher } from '../fetch/fetcher.ts';
import type { FetchPage } from '../visit/parts.ts';
import type { Reach } from '../visit/reach.ts';
import type { Ledger } from '../ledger/writer.ts';
import type { FetchMeter } from './fetch-meter.ts';
import { notedIn } from './noted-requests.ts';
import type { VisitTimes } from './visit-times.ts';

export interface RequestChainParts {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  /** Null with `--ledger off`. */
  readonly ledger: Ledger | null;
  readonly times: Pick<VisitTimes, 'timed'>;
  readonly meter: Pick<FetchMeter, 'request'>;
  readonly reach: Pick<Reach, 'judge'>;
}

/** The steps that a fetch thread puts between its visits and its fetcher, the innermost first. */
export const createRequestChain = ({ fetcher, ledger, times, meter, reach }: RequestChainParts): FetchPage => {
  // The fetcher tells of each address just before the first byte is sent to it: that is when the ledger notes the
  // request. If the ledger cannot be written, nothing is sent and the whole crawl stops.
  const noted: FetchPage = ledger === null ? fetcher.fetch : notedIn(ledger, fetcher.fetch);

  // From here on the request counts as under way, with all its waits: for a name server, a socket, body memory.
  const timed: FetchPage = (request, signal) => times.timed('request', () => noted(request, signal));

  // Counted when it has ended, as what it became: a response, or a failure of the web. A fault of ours is not counted.
  return async (request, signal) => {
    const exchange = await timed(request, signal);
    meter.request(request.kind, exchange);
    return reach.judge(exchange);
  };
};
