/** The life of one HTTP request: look up the host, wait for a socket, connect, send, read the response. */

import type { FailureCause, Truncation } from '../model/failure.ts';
import type { RequestTimes } from '../model/request.ts';
import { onAbort } from '../lib/on-abort.ts';
import { Body } from './body.ts';
import { finishFlow, pauseIfFull, type Flow } from './body-memory.ts';
import { createBodyReader, endsWithConnection, readBody, type BodyReader, type Sink } from './body-reader.ts';
import type { Plan, Shared } from './request-plan.ts';
import { connectCause, faultDetail, isOurs, noResponseCause } from './causes.ts';
import type { Connection, ConnectionUser } from './connection.ts';
import type { Claimant } from './connections.ts';
import type { Timed } from './deadlines.ts';
import { frame } from './framing.ts';
import type { Found } from './lookup.ts';
import { createHeadReader, readHead, type ResponseHead } from './response-head.ts';
import type { Span } from './span.ts';

/** Addresses of a host that are tried, one after the other, within the connect time. */
const ADDRESSES_TRIED_MAX = 3;

export class OngoingRequest implements ConnectionUser, Claimant, Flow, Timed {
  deadlineAt = 0;
  paused = false;
  readonly #shared: Shared;
  readonly #plan: Plan;
  readonly #totalBy: number;
  #stopListening: (() => void) | undefined;
  #stage: 'lookup' | 'queue' | 'connect' | 'sent' | 'head' | 'body' | 'over' = 'lookup';
  #connectLeftMs: number;
  #connectBy = 0;
  #addresses: readonly string[] = [];
  #connection: Connection | null = null;
  #address = '';
  #startedAt: number | null = null;
  #answeredAt = 0;
  // For `times`: when its steps began and ended, and null where they did not.
  readonly #begunAt: number;
  #lookedUpMs: number | null = null;
  #lookupAt = 0;
  #connectedMs: number | null = null;
  #dialledAt: number | null = null;
  #tlsMs: number | null = null;
  #sentAt: number | null = null;
  #resumed: boolean | null = null;
  #receivedBytes = 0;
  #headReader = createHeadReader();
  #head: ResponseHead | null = null;
  #bodyReader: BodyReader | null = null;
  #body: Body | null = null;

  constructor(shared: Shared, plan: Plan) {
    this.#shared = shared;
    this.#plan = plan;
    this.#begunAt = shared.clock.now();
    this.#totalBy = this.#begunAt + shared.totalTimeoutMs;
    this.#connectLeftMs = shared.connectTimeoutMs;
  }

  begin(): void {
    const { signal, dial, refusal } = this.#plan;
    if (signal?.aborted) return this.abort();
    if (refusal !== null) return this.#fail('address', refusal);
    this.#stopListening = signal && onAbort(signal, () => this.abort());
    this.#shared.deadlines.requests.add(this);
    this.#shared.deadlines.watch();
    const kept = this.#shared.connections.take(dial, this);
    if (kept === null) return this.#lookUp();
    this.#connection = kept;
    this.#address = kept.dial.address;
    this.#startedAt = this.#shared.clock.now();
    if (this.#maySend()) this.#send();
  }

  /** A request that cannot be noted is not sent, nor is one whose time is over. */
  #maySend(): boolean {
    if (this.#isTooLate()) return false;
    try {
      this.#plan.onSend?.(this.#address, this.#startedAt!);
      return true;
    } catch (error) {
      this.#release(false);
      this.#plan.broke(error);
      return false;
    }
  }

  /**
   * A process that was stopped for a while hears of its connections before its timers ring: so it is asked each time.
   */
  #isTooLate(): boolean {
    if (this.#plan.maySend?.() ?? true) return false;
    this.abort();
    return true;
  }

  abort(): void {
    this.#fail('aborted', 'the request was stopped', true);
  }

  #lookUp(): void {
    this.#stage = 'lookup';
    this.#allow(this.#connectLeftMs);
    this.#connectBy = this.deadlineAt;
    this.#lookupAt = this.#shared.clock.now();
    this.#shared.lookup.find(this.#plan.target.host, (found) => this.#found(found));
  }

  #found(found: Found): void {
    if (this.#stage !== 'lookup') return;
    this.#lookedUpMs = this.#shared.clock.now() - this.#lookupAt;
    if (found.kind === 'missing') return this.#fail(found.isGone ? 'no-name' : 'dns', found.detail);
    const allowed = this.#plan.target.named ? found.addresses : found.addresses.filter(this.#shared.mayVisit);
    if (allowed.length === 0) return this.#fail('address', `${found.addresses.join(', ')} is not public`);
    this.#addresses = allowed.slice(0, ADDRESSES_TRIED_MAX);
    this.#waitForSocket();
  }

  /** The wait for a socket is not the site's fault: it counts towards the total time only. */
  #waitForSocket(): void {
    this.#connectLeftMs = this.#connectBy - this.#shared.clock.now();
    this.#stage = 'queue';
    this.deadlineAt = this.#totalBy;
    this.#shared.connections.ask(this);
  }

  granted(): void {
    // One signal may stop many requests: the socket that the first one frees is not for the next.
    if (this.#plan.signal?.aborted) return this.abort();
    if (this.#totalBy <= this.#shared.clock.now()) return this.expired();
    const [address, ...others] = this.#addresses;
    if (address === undefined) throw new Error('a request asked for a socket without an address');
    // An address that does not answer leaves its share of the time to those after it.
    this.#allow(this.#connectLeftMs / this.#addresses.length);
    this.#connectBy = (this.#startedAt = this.#shared.clock.now()) + this.#connectLeftMs;
    this.#address = address;
    this.#addresses = others;
    this.#dialledAt = null;
    this.#stage = 'connect';
    if (!this.#maySend()) return;
    this.#connection = this.#shared.connections.open({ ...this.#plan.dial, address }, this);
  }

  dialled(): void {
    this.#dialledAt = this.#shared.clock.now();
    this.#connectedMs = this.#dialledAt - this.#startedAt!;
  }

  connected(resumed: boolean | null): void {
    const now = this.#shared.clock.now();
    if (this.#dialledAt === null) this.#connectedMs = now - this.#startedAt!;
    else this.#tlsMs = now - this.#dialledAt;
    this.#resumed = resumed;
    if (!this.#isTooLate()) this.#send();
  }

  #send(): void {
    this.#stage = 'sent';
    this.#connection?.send(this.#plan.head.sent);
    this.#allow(this.#shared.responseTimeoutMs);
    this.#sentAt = this.#shared.clock.now();
  }

  received(span: Span): void {
    this.#receivedBytes += span.end - span.at;
    if (this.#stage === 'sent') {
      this.#answeredAt = this.#shared.clock.now();
      this.#stage = 'head';
      this.deadlineAt = this.#totalBy;
    }
    if (this.#stage === 'head') this.#readHead(span);
    if (this.#stage === 'body') this.#readBody(span);
  }

  #readHead(span: Span): void {
    const head = readHead(this.#headReader, span);
    if (head === null) return;
    if (head.kind === 'bad') return this.#fail('bad-response', head.detail);
    const { wantsBody, bodyBytesMax } = this.#plan;
    this.#head = head;
    const framing = frame(head);
    this.#bodyReader = createBodyReader(framing);
    let wanted: boolean;
    try {
      wanted = wantsBody(head.status, head.headers);
    } catch (error) {
      this.#release(false);
      return this.#plan.broke(error);
    }
    if (!wanted) return this.#skipBody(this.#bodyReader, span);
    this.#body = new Body(
      this.#shared.memory,
      bodyBytesMax,
      framing.kind === 'length' ? framing.lengthBytes : Infinity,
    );
    this.#stage = 'body';
    if (framing.kind !== 'none') this.#shared.memory.flows.add(this);
  }

  /** What is here already is read over, so that the connection can be kept; the rest is never downloaded. */
  #skipBody(reader: BodyReader, span: Span): void {
    const skipped: Sink & { bytes: number } = {
      bytes: 0,
      take: (_span, count) => (skipped.bytes += count) >= 0,
    };
    const whole = readBody(reader, span, skipped) === 'done';
    this.#complete(whole && skipped.bytes === 0 ? null : 'unspecified', whole && span.at === span.end);
  }

  #readBody(span: Span): void {
    const reader = this.#bodyReader as BodyReader;
    const body = this.#body as Body;
    switch (readBody(reader, span, body)) {
      case 'done':
        return this.#complete(null, span.at === span.end); // bytes too many spoil the next response
      case 'cut':
        return this.#complete('length', false);
      case 'bad':
        return this.#complete('disconnect', false);
      case 'more':
        // Announced to be longer than the ceiling: no need to wait for the byte that proves it.
        if (body.isFull && reader.leftBytes > 0) return this.#complete('length', false);
        pauseIfFull(this.#shared.memory, this);
    }
  }

  lost(fault: NodeJS.ErrnoException | null): void {
    const connection = this.#connection;
    this.#connection = null;
    switch (this.#stage) {
      case 'connect': {
        const cause = connectCause(fault, this.#plan.dial.tls !== null);
        if (cause !== 'tls' && this.#addresses.length > 0) return this.#waitForSocket();
        // A server that fails instead of declining to resume a session is offered none the next time.
        return this.#fail(cause, faultDetail(fault), isOurs(fault) || connection?.offers === true);
      }
      case 'sent':
        // A kept connection may have been closed before the request came, or because of it. Sending again at
        // once would be a second request in the second case, so whoever asked for it decides when.
        return this.#fail(noResponseCause(fault), faultDetail(fault), connection?.reused === true);
      case 'head':
        return this.#fail('reset', faultDetail(fault));
      case 'body':
        return this.#complete(
          fault === null && endsWithConnection(this.#bodyReader as BodyReader) ? null : 'disconnect',
          false,
        );
      case 'lookup':
      case 'queue':
      case 'over':
        return;
    }
  }

  expired(): void {
    switch (this.#stage) {
      case 'lookup':
        return this.#fail('dns', 'no answer from the name servers in time');
      case 'queue':
        return this.#fail('timeout', 'no socket was free in time');
      case 'connect':
        this.#connection?.end();
        this.#connection = null;
        if (this.#addresses.length > 0 && this.deadlineAt < this.#totalBy) return this.#waitForSocket();
        return this.#fail('connect-timeout', 'no connection in time');
      case 'sent':
        return this.#fail('response-timeout', 'no response in time');
      case 'head':
        return this.#fail('timeout', 'the head of the response was not complete in time');
      case 'body':
        return this.#complete('time', false);
      case 'over':
        return;
    }
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  #allow(ms: number): void {
    this.deadlineAt = Math.min(this.#shared.clock.now() + ms, this.#totalBy);
  }

  #complete(truncated: Truncation | null, atEnd: boolean): void {
    if (this.#stage === 'over') return;
    const { clock, memory } = this.#shared;
    const { url, head: request, dial } = this.#plan;
    const { tls } = dial;
    const head = this.#head as ResponseHead;
    const body = this.#body?.finish() ?? new Uint8Array(0);
    this.#body = null;
    finishFlow(memory, this, body.length);
    this.#release(atEnd && this.#plan.keepMs > 0 && (this.#bodyReader?.framing.reusable ?? false));
    this.#plan.done(
      {
        kind: 'answered',
        url,
        startedAt: this.#startedAt ?? 0,
        answeredAt: this.#answeredAt,
        endedAt: clock.now(),
        address: this.#address,
        requestHead: request.kept,
        head: head.text,
        status: head.status,
        headers: head.headers,
        body,
        truncated,
        ...(tls === null ? {} : { tls: tls.verify ? 'verified' : 'unverified' }),
        times: this.#times(clock.now()),
      },
      body.length,
    );
  }

  #times(endedAt: number): RequestTimes {
    return {
      lookupMs: this.#lookedUpMs,
      connectMs: this.#connectedMs,
      tlsMs: this.#tlsMs,
      resumed: this.#resumed,
      firstByteMs: this.#sentAt !== null && this.#answeredAt > 0 ? this.#answeredAt - this.#sentAt : null,
      totalMs: endedAt - this.#begunAt,
      sentBytes: this.#sentAt === null ? 0 : this.#plan.head.sent.length,
      receivedBytes: this.#receivedBytes,
    };
  }

  #fail(cause: FailureCause, detail: string, unsure = false): void {
    if (this.#stage === 'over') return;
    this.#release(false);
    const { clock } = this.#shared;
    this.#plan.done(
      {
        kind: 'failed',
        url: this.#plan.url,
        startedAt: this.#startedAt,
        endedAt: clock.now(),
        cause,
        unsure,
        detail,
        times: this.#times(clock.now()),
      },
      0,
    );
  }

  /** Gives back all that the request held. */
  #release(keep: boolean): void {
    const { memory, deadlines, connections, clock } = this.#shared;
    if (this.#stage === 'queue') connections.withdraw(this);
    this.#stage = 'over';
    deadlines.requests.delete(this);
    this.#stopListening?.();
    if (this.#body !== null) {
      this.#body.drop();
      this.#body = null;
      finishFlow(memory, this, 0);
    }
    const connection = this.#connection;
    this.#connection = null;
    if (connection === null) return;
    if (keep) connections.keep(connection, clock.now() + this.#plan.keepMs);
    else connection.end();
  }
}
