/** What becomes of a link that a server answered: its outcome and its row. */

import type { Answered } from '../model/exchange.ts';
import type { Link } from '../model/link.ts';
import type { OutcomeName } from '../model/outcome.ts';
import type { Page } from '../model/page.ts';
import { FIELD_CHARS_MAX } from '../model/unanswered-page.ts';
import type { Parsed, VisitParts } from './parts.ts';
import { isWanted } from './sitemaps.ts';

/** Ceilings of what is kept in a row; the whole is in the archive. */
const TITLE_CHARS_MAX = 500;
const URL_CHARS_MAX = 2_000;

export interface AnsweredParts {
  readonly link: Link;
  readonly tries: number;
  readonly exchange: Answered;
  readonly parsed: Parsed & { kind: 'parsed' };
  readonly outcome: OutcomeName;
  readonly redirect: string;
  readonly robots: string;
}

export const answeredPage = ({ link, tries, exchange, parsed, outcome, redirect, robots }: AnsweredParts): Page => ({
  url: link.url,
  site: link.site,
  outcome,
  status: exchange.status,
  time: exchange.startedAt,
  duration_ms: exchange.endedAt - exchange.startedAt,
  content_type: cut(exchange.headers['content-type'] ?? ''),
  bytes: parsed.bodyBytes,
  title: (parsed.findings?.title ?? '').slice(0, TITLE_CHARS_MAX),
  language: cut(parsed.findings?.language ?? ''),
  redirect: redirect.slice(0, URL_CHARS_MAX),
  digest: parsed.digest,
  truncated: exchange.truncated ?? (parsed.cut ? 'length' : ''),
  noindex: parsed.findings?.noindex ?? false,
  depth: link.depth,
  via: link.via,
  tries,
  robots: cut(robots),
  detail: exchange.address,
  extracted: parsed.extracted || null,
  tls: exchange.tls ?? '',
  charset: parsed.findings?.charset ?? '',
  charset_guessed: parsed.findings?.charsetGuessed ?? false,
});

export const outcomeOf = (parts: VisitParts, link: Link, exchange: Answered): OutcomeName => {
  const { status, headers } = exchange;
  if (status >= 200 && status < 300) return isWanted(parts, link, exchange) ? 'fetched' : 'body-skipped';
  if (status >= 300 && status < 400) return headers.location === undefined ? 'odd-status' : 'redirected';
  if (status >= 400 && status < 500) return 'client-error';
  return status >= 500 && status < 600 ? 'server-error' : 'odd-status';
};

const cut = (text: string): string => text.slice(0, FIELD_CHARS_MAX);
