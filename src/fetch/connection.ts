/** One socket, plain or TLS, from dialling until it is closed; its events go to whoever uses it. */

import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type ConnectionOptions, type SecureContext } from 'node:tls';
import type { Timed } from './deadlines.ts';
import { READ_BYTES_MAX, type Span } from './span.ts';
import type { TlsSessions } from './tls-sessions.ts';

export interface Dial {
  /** What it may be kept for: scheme, host and port. */
  readonly origin: string;
  readonly address: string;
  readonly port: number;
  /** The host in the URL, for SNI and the certificate. */
  readonly host: string;
  /** Null for a plain connection. */
  readonly tls: TlsChoice | null;
}

export interface TlsChoice {
  readonly context: SecureContext;
  readonly verify: boolean;
  readonly sessions: TlsSessions;
}

export interface ConnectionUser {
  /** The TCP connection is made, and TLS is about to begin. */
  dialled(): void;
  /** Requests can be sent. `resumed`: whether a TLS session was resumed for that; null without TLS. */
  connected(resumed: boolean | null): void;
  /** The span is valid only until this returns. */
  received(span: Span): void;
  /** The connection is over, by the other side or by a fault. Called once, and not after `end()`. */
  lost(fault: NodeJS.ErrnoException | null): void;
}

export interface ConnectionOwner {
  /** The descriptor of the connection is free. Called once. */
  ended(connection: Connection): void;
  /** The handle of the connection is gone too, a moment later. Called once. */
  gone(connection: Connection): void;
}

// All sockets of a thread read into this one: reads are handed over at once, one after the other.
const READ_BUFFER = Buffer.allocUnsafeSlow(READ_BYTES_MAX);
const SPAN: Span = { bytes: READ_BUFFER, at: 0, end: 0 };

export class Connection implements Timed {
  readonly dial: Dial;
  /** Null while the connection is kept for a later request. */
  user: ConnectionUser | null;
  /** Whether the connection has served a request before. */
  reused = false;
  deadlineAt = 0;
  isOpen = true;
  /** An earlier TLS session was offered, and TLS is not there yet. */
  offers = false;
  /** The last TLS session that this connection was given. */
  #session: Buffer | null = null;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;

  constructor(dial: Dial, user: ConnectionUser, owner: ConnectionOwner) {
    this.dial = dial;
    this.user = user;
    this.#owner = owner;
    const onread = { buffer: READ_BUFFER, callback: (count: number): boolean => this.#received(count) };
    const { address, port, tls } = dial;
    if (tls === null) {
      const socket = connect({ host: address, port, onread });
      this.#socket = socket;
      socket.once('connect', () => this.user?.connected(null));
    } else {
      const session = tls.sessions.of(dial.origin);
      const socket = connectTls(tlsOptions(dial, tls, { onread, session }));
      this.#socket = socket;
      // told only once the certificate is as it must be
      socket.on('session', (given: Buffer) => (this.#session = given));
      socket.once('connect', () => {
        this.offers = session !== undefined;
        this.user?.dialled();
      });
      socket.once('secureConnect', () => {
        this.offers = false;
        this.user?.connected(socket.isSessionReused());
      });
    }
    const socket = this.#socket;
    socket.on('error', (fault: NodeJS.ErrnoException) => this.#lose(fault));
    socket.on('end', () => this.#lose(null));
    socket.once('close', () => {
      this.#lose(null);
      this.#owner.gone(this);
    });
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** An idle connection does not keep the thread alive. */
  rest(): void {
    this.user = null;
    this.reused = true;
    this.#socket.unref();
  }

  wake(user: ConnectionUser): void {
    this.user = user;
    this.#socket.ref();
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.user = null;
    this.#remember();
    this.#socket.destroy(); // closes the descriptor at once
    this.#owner.ended(this);
  }

  /** The connection was kept long enough. */
  expired(): void {
    this.end();
  }

  #remember(): void {
    const { origin, tls } = this.dial;
    if (this.offers) tls?.sessions.distrust(origin);
    else if (this.#session) tls?.sessions.keep(origin, this.#session);
  }

  #received(count: number): boolean {
    if (this.user === null) {
      this.end(); // nobody asked: what comes now must not be taken for the response to the next request
      return true;
    }
    SPAN.at = 0;
    SPAN.end = count;
    this.user.received(SPAN);
    return true;
  }

  #lose(fault: NodeJS.ErrnoException | null): void {
    const user = this.user;
    this.end();
    user?.lost(fault);
  }
}

const tlsOptions = (
  dial: Dial,
  { context, verify }: TlsChoice,
  { onread, session }: { onread: OnReadOpts; session: Buffer | undefined },
): ConnectionOptions => {
  const { host } = dial;
  const options: ConnectionOptions & { onread: OnReadOpts } = {
    // documented, but missing in the types
    onread,
    host: dial.address,
    port: dial.port,
    secureContext: context,
    session,
    rejectUnauthorized: verify,
    ALPNProtocols: HTTP_1_1,
  };
  // SNI names hosts, never addresses (RFC 6066, 3), and without the dot of the root.
  if (isIP(host) === 0) options.servername = host.endsWith('.') ? host.slice(0, -1) : host;
  // The certificate must be that of the host in the URL, wherever --connect-to led.
  if (verify) options.checkServerIdentity = (_name, certificate) => checkServerIdentity(host, certificate);
  return options;
};

const HTTP_1_1 = ['http/1.1'];
