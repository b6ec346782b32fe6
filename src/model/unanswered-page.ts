/** The row of a link that is settled without a response. */

import type { Link } from './link.ts';
import type { OutcomeName } from './outcome.ts';
import type { Page } from './page.ts';

/** Characters that a row keeps of a text; the whole is in the archive. */
export const FIELD_CHARS_MAX = 200;

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
  time: at,
  duration_ms: 0,
  content_type: '',
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
  robots: robots.slice(0, FIELD_CHARS_MAX),
  detail: detail.slice(0, FIELD_CHARS_MAX),
  extracted: null,
  tls: '',
  charset: '',
  charset_guessed: false,
});
