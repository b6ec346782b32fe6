/** The row of a settled link. */

import type { Answered } from '../model/exchange.ts';
import type { Link } from '../model/link.ts';
import type { OutcomeName } from '../model/outcome.ts';
import type { Page } from '../model/settlement.ts';
import type { Parsed } from './parts.ts';

/** Ceilings of what is kept in a row; the whole is in the archive. */
const TITLE_CHARS_MAX = 500;
const FIELD_CHARS_MAX = 200;
const URL_CHARS_MAX = 2_000;

export interface Unanswered {
  readonly link: Link;
  readonly tries: number;
  readonly outcome: OutcomeName;
  readonly at: number;
  readonly robots?: string;
  readonly detail?: string;
}

export const unansweredPage = ({ link, tries, outcome, at, robots = '', detail = '' }: Unanswered): Page => ({
  url: link.url,
  site: link.site,
  outcome,
  status: null,
  at,
  durationMs: 0,
  contentType: '',
  bytes: 0,
  title: '',
  language: '',
  redirect: '',
  digest: '',
  truncated: '',
  noindex: false,
  depth: link.depth,
  via: link.via,
  tries,
  robots: cut(robots),
  detail: cut(detail),
  extracted: '',
});

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
  at: exchange.startedAt,
  durationMs: exchange.endedAt - exchange.startedAt,
  contentType: cut(exchange.headers['content-type'] ?? ''),
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
  extracted: parsed.extracted,
});

const cut = (text: string): string => text.slice(0, FIELD_CHARS_MAX);
