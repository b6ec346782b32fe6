/** The life of one call: look up, wait for a place, connect, ask, read the answer. */

import type { CallParts, FailureCause, Truncation } from '../model/exchange.ts';
import { onAbort } from '../lib/on-abort.ts';
import { isPublicAddress } from './address-guard.ts';
import { Body } from './body.ts';
import { finishFlow, pauseIfFull, type Flow } from './body-memory.ts';
import { createBodyReader, endsWithConnection, readBody, type BodyReader, type Sink } from './body-reader.ts';
import type { Plan, Shared } from './call-plan.ts';
import { answerCause, connectCause, faultDetail, isOurs } from './causes.ts';
import type { Connection, ConnectionUser } from './connection.ts';
import type { Claimant } from './connections.ts';
import type { Timed } from './deadlines.ts';
import { frame } from './framing.ts';
import type { Found } from './lookup.ts';
import { createHeadReader, readHead, type ResponseHead } from './response-head.ts';
import type { Span } from './span.ts';

/** Addresses of a host that are tried, one after the other, within the connect time. */
const ADDRESSES_TRIED_MAX = 3;

export class OngoingCall implements ConnectionUser, Claimant, Flow, Timed {
  deadlineAt = 0;
  paused = false;
  readonly #shared: Shared;
  readonly #plan: Plan;
  readonly #totalBy: number;
  #stopListening: (() => void) | undefined;
  #stage: 'lookup' | 'line' | 'connect' | 'sent' | 'head' | 'body' | 'over' = 'lookup';
  #connectLeftMs: number;
  #connectBy = 0;
  #addresses: readonly string[] = [];
  #connection: Connection | null = null;
  #address = '';
  #startedAt: number | null = null;
  #answeredAt = 0;
  // For `parts`: when its steps began and ended, and null where they did not.
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
    const { signal, dial } = this.#plan;
    if (signal?.aborted) return this.abort();
    this.#stopListening = signal && onAbort(signal, () => this.abort());
    this.#shared.deadlines.calls.add(this);
    this.#shared.deadlines.watch();
    const kept = this.#shared.connections.take(dial.origin, this);
    if (kept === null) return this.#lookUp();
    this.#connection = kept;
    this.#address = kept.dial.address;
    this.#startedAt = this.#shared.clock.now();
    if (this.#mayLeave()) this.#send();
  }

  /** A call that cannot be told of does not leave, and none whose time is over. */
  #mayLeave(): boolean {
    if (this.#isTooLate()) return false;
    try {
      this.#plan.leaving?.(this.#address, this.#startedAt!);
      return true;
    } catch (error) {
      this.#leave(false);
      this.#plan.broke(error);
      return false;
    }
  }

  /**
   * A process that was stopped for a while hears of its connections before its timers ring: the clock is asked each
   * time.
   */
  #isTooLate(): boolean {
    if (this.#shared.clock.now() < this.#plan.notAfter) return false;
    this.abort();
    return true;
  }

  abort(): void {
    this.#fail('aborted', 'the call was stopped', true);
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
    if (found.kind === 'missing') return this.#fail('dns', found.detail);
    const open = this.#plan.target.named || this.#shared.allowPrivateAddresses;
    const allowed = open ? found.addresses : found.addresses.filter(isPublicAddress);
    if (allowed.length === 0) return this.#fail('address', `${found.addresses.join(', ')} is not public`);
    this.#addresses = allowed.slice(0, ADDRESSES_TRIED_MAX);
    this.#waitForPlace();
  }

  /** The wait for a place is not the site's fault: it counts towards the total time only. */
  #waitForPlace(): void {
    this.#connectLeftMs = this.#connectBy - this.#shared.clock.now();
    this.#stage = 'line';
    this.deadlineAt = this.#totalBy;
    this.#shared.connections.ask(this);
  }

  granted(): void {
    // One signal may stop many calls: the place that the first one frees is not for the next.
    if (this.#plan.signal?.aborted) return this.abort();
    if (this.#totalBy <= this.#shared.clock.now()) return this.expired();
    const [address, ...others] = this.#addresses;
    if (address === undefined) throw new Error('a call asked for a place without an address');
    // An address that does not answer leaves its share of the time to those after it.
    this.#allow(this.#connectLeftMs / this.#addresses.length);
    this.#connectBy = (this.#startedAt = this.#shared.clock.now()) + this.#connectLeftMs;
    this.#address = address;
    this.#addresses = others;
    this.#dialledAt = null;
    this.#stage = 'connect';
    if (!this.#mayLeave()) return;
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
    this.#connection?.send(this.#plan.requestHead);
    this.#allow(this.#shared.answerTimeoutMs);
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
    if (head.kind === 'bad') return this.#fail('bad-answer', head.detail);
    const { wantsBody, bodyBytesMax } = this.#plan;
    this.#head = head;
    const framing = frame(head);
    this.#bodyReader = createBodyReader(framing);
    let wanted: boolean;
    try {
      wanted = wantsBody(head.status, head.headers);
    } catch (error) {
      this.#leave(false);
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
    this.#answer(whole && skipped.bytes === 0 ? null : 'unspecified', whole && span.at === span.end);
  }

  #readBody(span: Span): void {
    const reader = this.#bodyReader as BodyReader;
    const body = this.#body as Body;
    switch (readBody(reader, span, body)) {
      case 'done':
        return this.#answer(null, span.at === span.end); // bytes too many spoil the next answer
      case 'cut':
        return this.#answer('length', false);
      case 'bad':
        return this.#answer('disconnect', false);
      case 'more':
        // Announced to be longer than the ceiling: no need to wait for the byte that proves it.
        if (body.isFull && reader.leftBytes > 0) return this.#answer('length', false);
        pauseIfFull(this.#shared.memory, this);
    }
  }

  lost(fault: NodeJS.ErrnoException | null): void {
    const connection = this.#connection;
    this.#connection = null;
    switch (this.#stage) {
      case 'connect': {
        const cause = connectCause(fault, this.#plan.dial.tls !== null);
        if (cause !== 'tls' && this.#addresses.length > 0) return this.#waitForPlace();
        // A server that cannot resume a session, instead of declining, is called without one the next time.
        return this.#fail(cause, faultDetail(fault), isOurs(fault) || connection?.offers === true);
      }
      case 'sent':
        // A kept connection may have been closed before the request came, or because of it. Asking again at
        // once would be a second call in the second case, so the caller decides when.
        return this.#fail(answerCause(fault), faultDetail(fault), connection?.reused === true);
      case 'head':
        return this.#fail('reset', faultDetail(fault));
      case 'body':
        return this.#answer(
          fault === null && endsWithConnection(this.#bodyReader as BodyReader) ? null : 'disconnect',
          false,
        );
      case 'lookup':
      case 'line':
      case 'over':
        return;
    }
  }

  expired(): void {
    switch (this.#stage) {
      case 'lookup':
        return this.#fail('dns', 'no answer from the name servers in time');
      case 'line':
        return this.#fail('timeout', 'no socket was free in time');
      case 'connect':
        this.#connection?.end();
        this.#connection = null;
        if (this.#addresses.length > 0 && this.deadlineAt < this.#totalBy) return this.#waitForPlace();
        return this.#fail('connect-timeout', 'no connection in time');
      case 'sent':
        return this.#fail('answer-timeout', 'no answer in time');
      case 'head':
        return this.#fail('timeout', 'the head of the answer was not complete in time');
      case 'body':
        return this.#answer('time', false);
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

  #answer(truncated: Truncation | null, atEnd: boolean): void {
    if (this.#stage === 'over') return;
    const { clock, memory } = this.#shared;
    const { url, requestHead } = this.#plan;
    const head = this.#head as ResponseHead;
    const body = this.#body?.finish() ?? new Uint8Array(0);
    this.#body = null;
    finishFlow(memory, this, body.length);
    this.#leave(atEnd && this.#plan.keepMs > 0 && (this.#bodyReader?.framing.reusable ?? false));
    this.#plan.done(
      {
        kind: 'answered',
        url,
        startedAt: this.#startedAt ?? 0,
        answeredAt: this.#answeredAt,
        endedAt: clock.now(),
        address: this.#address,
        requestHead,
        head: head.text,
        status: head.status,
        headers: head.headers,
        body,
        truncated,
        parts: this.#parts(clock.now()),
      },
      body.length,
    );
  }

  #parts(endedAt: number): CallParts {
    return {
      lookupMs: this.#lookedUpMs,
      connectMs: this.#connectedMs,
      tlsMs: this.#tlsMs,
      resumed: this.#resumed,
      firstByteMs: this.#sentAt !== null && this.#answeredAt > 0 ? this.#answeredAt - this.#sentAt : null,
      totalMs: endedAt - this.#begunAt,
      sentBytes: this.#sentAt === null ? 0 : this.#plan.requestHead.length,
      receivedBytes: this.#receivedBytes,
    };
  }

  #fail(cause: FailureCause, detail: string, unsure = false): void {
    if (this.#stage === 'over') return;
    this.#leave(false);
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
        parts: this.#parts(clock.now()),
      },
      0,
    );
  }

  /** Give back all that the call held. */
  #leave(keep: boolean): void {
    const { memory, deadlines, connections, clock } = this.#shared;
    if (this.#stage === 'line') connections.leave(this);
    this.#stage = 'over';
    deadlines.calls.delete(this);
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
