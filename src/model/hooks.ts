/** What a person's own module may add to a crawl: a say on links, and a value for each page. */

import type { Link } from './link.ts';
import type { HookRefusal } from './outcome.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** What `accept` is asked about: a link that is in scope and may be new. */
export type HookLink = Readonly<Pick<Link, 'url' | 'site' | 'depth' | 'via'>>;

/** What `extract` gets: a page that was fetched and is text. */
export interface HookPage {
  readonly url: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly title: string;
  readonly language: string;
  /** The text that a reader sees. */
  readonly text: string;
  /** The body as text: content-encoding and character encoding undone. */
  readonly html: string;
  /** Where its links lead: http and https, in canonical form, each once; none when the page says nofollow. */
  readonly links: readonly string[];
}

/** The exports of a hooks module; it has one of them or both. They return at once: a promise is an error. */
export interface Hooks {
  /** Whether the link is wanted. */
  accept?(link: HookLink): boolean;
  /** What is stored with the page; undefined for nothing. */
  extract?(page: HookPage): JsonValue | undefined;
}

export const HOOK_NAMES = ['accept', 'extract'] as const;
export type HookName = (typeof HOOK_NAMES)[number];

/** A hook that failed, and why. */
export interface HookTrouble {
  readonly hook: HookName;
  /** The link or page it was called for; empty when it failed after it had returned. */
  readonly url: string;
  readonly why: string;
}

/** One verdict per link, in order: null when it is wanted. */
export type AcceptLinks = (links: readonly Link[]) => readonly (HookRefusal | null)[];

/** Bytes of an extracted value as JSON. It lies in the row of its page: a few fields fit, a whole page does not. */
export const EXTRACTED_BYTES_MAX = 64 * 1024;
