/** What the scanner knows at one place of a page. */

import { createDirectives, type Directives } from '../directives.ts';
import { createHrefs, type Hrefs } from '../hrefs.ts';
import { type Attributes, createAttributes } from './attributes.ts';
import { createForeign, type Foreign, isUnseen } from './foreign.ts';
import { TAG_IDS } from './tags.ts';
import { createTextSink, type TextSink } from './text.ts';

export interface ScanOptions {
  /** Lower case: meta elements of this name count like `robots`. */
  readonly productToken: string;
  /** XML rules for what HTML lacks: `<script/>` is empty, CDATA may stand anywhere. */
  readonly xhtml: boolean;
  /** Whether the text is wanted; links and all else are found without it, in about half the time. */
  readonly text: boolean;
}

export interface Scan {
  readonly source: string;
  readonly options: ScanOptions;
  /** The tag read last. */
  readonly tag: Attributes;
  readonly sink: TextSink;
  readonly hrefs: Hrefs;
  readonly directives: Directives;
  readonly foreign: Foreign;
  /** Open HTML elements by tag id, as far as start and end tags tell; for end tags inside svg and math. */
  readonly openCounts: Int32Array;
  title: string | null;
  language: string | null;
  base: string | null;
  canonical: string;
  /** A feed was named. */
  hasFeed: boolean;
  /** Templates around this place whose content is not part of the page. */
  templates: number;
  /** The element that keeps its text from the reader, and how many of its name are open. */
  unseenName: string;
  unseenDepth: number;
  /** What was open around the element that keeps its text from the reader. */
  readonly openAround: Int32Array;
  /** Open elements that keep their white space. */
  preformatted: number;
  /** What stood before the body, once it began: a frameset replaces the rest. */
  head: (Pick<Scan, 'title' | 'base' | 'canonical'> & { readonly hrefs: number }) | null;
  /** Nothing yet keeps a `<frameset>` from replacing the body. */
  framesetAllowed: boolean;
  /** The page is a frameset: no other markup counts any more. */
  frameset: boolean;
  /** Open framesets. */
  framesetDepth: number;
  /** This is the content of a noframes: one inside it is no element. */
  readonly inNoframes: boolean;
  /** How many noframes were read. */
  noframes: number;
}

export const createScan = (source: string, options: ScanOptions): Scan => ({
  source,
  options,
  tag: createAttributes(source),
  sink: createTextSink(),
  hrefs: createHrefs(),
  directives: createDirectives(),
  foreign: createForeign(),
  openCounts: new Int32Array(TAG_IDS),
  title: null,
  language: null,
  base: null,
  canonical: '',
  hasFeed: false,
  templates: 0,
  unseenName: '',
  unseenDepth: 0,
  openAround: new Int32Array(TAG_IDS),
  preformatted: 0,
  head: null,
  framesetAllowed: true,
  frameset: false,
  framesetDepth: 0,
  inNoframes: false,
  noframes: 0,
});

/** For the content of a noframes: what it links to and says to crawlers counts for the page, and nothing else. */
export const createNoframesScan = ({ options, hrefs, directives }: Scan, content: string): Scan => ({
  ...createScan(content, { ...options, text: false }),
  hrefs,
  directives,
  inNoframes: true,
});

/** A reader does not see the text at this place. */
export const isMuted = (scan: Scan): boolean =>
  scan.unseenName !== '' || scan.templates > 0 || scan.frameset || isUnseen(scan.foreign);

export const beginBody = (scan: Scan): void => {
  if (scan.head !== null || scan.templates > 0) return;
  scan.head = { hrefs: scan.hrefs.list.length, title: scan.title, base: scan.base, canonical: scan.canonical };
};

/** The body has content: it stays one. */
export const settleBody = (scan: Scan): void => {
  scan.framesetAllowed = false;
  beginBody(scan);
};
