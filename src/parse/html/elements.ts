/** What the start and the end of an element do to the scan. */

import { addMeta } from '../directives.ts';
import { addHref, cutHrefs, tidyHref } from '../hrefs.ts';
import { essence, FEED_TYPES } from '../media-type.ts';
import { refreshTarget } from '../refresh.ts';
import {
  CONTENT,
  has,
  HREF,
  HTTP_EQUIV,
  LANG,
  NAME,
  REL,
  SHADOW_ROOT,
  SRC,
  TYPE,
  attributeValue,
  XLINK_HREF,
  XML_LANG,
} from './attributes.ts';
import { decodeText } from './references.ts';
import { rawTextEnd, scriptEnd } from './skip.ts';
import { beginBody, isMuted, type Scan, settleBody } from './state.ts';
import {
  BLOCK,
  CELL,
  HEAD,
  PARAGRAPH,
  PREFORMATTED,
  RAW,
  READ,
  SETTLES_BODY,
  SPECIAL,
  type Tag,
  tagNamed,
  UNSEEN,
  VOID,
} from './tags.ts';
import { breakLine, CELL_GAP, leaveGap, LINE_GAP, oneLine, PARAGRAPH_GAP, readText } from './text.ts';

/** Longer titles are cut: they stand in the listing of pages. */
const TITLE_CHARS_MAX = 1_000;
/** Far above any language tag in use (RFC 5646, 4.4.1 expects 35 characters to do). */
const LANGUAGE_CHARS_MAX = 100;

/** An element of svg or math. */
export const startForeignElement = (scan: Scan, element: Tag): void => {
  beginBody(scan);
  if (element.name !== 'a' || scan.templates > 0) return;
  if (has(scan.tag, HREF)) addLink(scan, HREF);
  else if (has(scan.tag, XLINK_HREF)) addLink(scan, XLINK_HREF);
};

/** An element of HTML. */
export const startElement = (scan: Scan, element: Tag): void => {
  const { name, flags } = element;
  if (name === 'frameset') return beginFrameset(scan);
  if ((flags & HEAD) === 0) beginBody(scan);
  if ((flags & SETTLES_BODY) !== 0 && !isHiddenInput(scan, name)) settleBody(scan);
  if ((flags & READ) !== 0) readElement(scan, name);
  if (scan.templates > 0) return;
  hide(scan, element);
  if (scan.unseenName !== '') return;
  if (name === 'br') breakLine(scan.sink);
  else setOff(scan, flags);
  if ((flags & (PREFORMATTED | RAW)) === PREFORMATTED) scan.preformatted += 1;
};

export const endElement = (scan: Scan, element: Tag): void => {
  const { name, flags } = element;
  // These two end tags make an element of their own where there is none to end.
  if (name === 'br') settleBody(scan);
  else if (name === 'p') beginBody(scan);
  if (name === 'template' && scan.templates > 0) scan.templates -= 1;
  if (scan.templates > 0) return;
  if (name === scan.unseenName) {
    scan.unseenDepth -= 1;
    if (scan.unseenDepth === 0) scan.unseenName = '';
  } else if (scan.unseenName !== '' && endsAround(scan, element)) scan.unseenName = '';
  if (scan.unseenName !== '') return;
  if (name === 'br') breakLine(scan.sink);
  else setOff(scan, flags);
  if ((flags & (PREFORMATTED | RAW)) === PREFORMATTED && scan.preformatted > 0) scan.preformatted -= 1;
};

/** The content of a title, script and the like, from the end of the start tag; says where it ends. */
export const readRawText = (scan: Scan, name: string, from: number): number => {
  const { source } = scan;
  if (name === 'script') return scriptEnd(source, from);
  const to = name === 'plaintext' ? source.length : rawTextEnd(source, from, name);
  if (name === 'title' && scan.title === null && scan.templates === 0) {
    scan.title = oneLine(decodeText(source.slice(from, to).replaceAll('\0', '\ufffd'))).slice(0, TITLE_CHARS_MAX);
  } else if ((name === 'xmp' || name === 'plaintext') && !isMuted(scan)) {
    readText(scan.sink, source, { from, to, markup: false, preformatted: true });
  }
  return to;
};

export const readLanguage = (scan: Scan): void => {
  if (scan.language !== null || scan.templates > 0) return;
  const slot = has(scan.tag, LANG) ? LANG : XML_LANG;
  if (has(scan.tag, slot)) scan.language = attributeValue(scan.tag, slot).trim().slice(0, LANGUAGE_CHARS_MAX);
};

const setOff = (scan: Scan, flags: number): void => {
  if ((flags & (BLOCK | CELL)) === 0) return;
  leaveGap(scan.sink, (flags & CELL) !== 0 ? CELL_GAP : (flags & PARAGRAPH) !== 0 ? PARAGRAPH_GAP : LINE_GAP);
};

/** An end tag of what stands around an element ends that, too; but that of an inline element reaches past no block. */
const endsAround = ({ openCounts, openAround, unseenName }: Scan, { id, flags }: Tag): boolean =>
  id !== 0 &&
  openCounts[id]! < openAround[id]! &&
  ((flags & SPECIAL) !== 0 || (tagNamed(unseenName).flags & SPECIAL) === 0);

/** Elements whose end tag may be missing: what starts next ends them, unless that is in a list or table inside. */
const ENDED_BY: Readonly<Record<string, { readonly by: readonly string[]; readonly unlessIn: readonly string[] }>> = {
  li: { by: ['li'], unlessIn: ['ul', 'ol', 'menu', 'dir'] },
  dt: { by: ['dt', 'dd'], unlessIn: ['dl'] },
  dd: { by: ['dt', 'dd'], unlessIn: ['dl'] },
  option: { by: ['option', 'optgroup'], unlessIn: ['select'] },
  optgroup: { by: ['optgroup'], unlessIn: ['select'] },
  td: { by: ['td', 'th', 'tr', 'tbody', 'thead', 'tfoot'], unlessIn: ['table'] },
  th: { by: ['td', 'th', 'tr', 'tbody', 'thead', 'tfoot'], unlessIn: ['table'] },
  tr: { by: ['tr', 'tbody', 'thead', 'tfoot'], unlessIn: ['table'] },
  tbody: { by: ['tbody', 'thead', 'tfoot'], unlessIn: ['table'] },
  thead: { by: ['tbody', 'tfoot'], unlessIn: ['table'] },
};

const isEndedBy = ({ unseenName, openCounts, openAround }: Scan, name: string): boolean => {
  const implied = ENDED_BY[unseenName];
  if (implied === undefined || !implied.by.includes(name)) return false;
  return implied.unlessIn.every((list) => openCounts[tagNamed(list).id]! <= openAround[tagNamed(list).id]!);
};

const hide = (scan: Scan, { name, flags }: Tag): void => {
  if ((flags & (VOID | RAW)) !== 0) return;
  // A paragraph ends where the next block begins, with an end tag or without.
  if (scan.unseenName === 'p' && (flags & BLOCK) !== 0) scan.unseenName = '';
  if (scan.unseenName !== '' && isEndedBy(scan, name)) scan.unseenName = '';
  if (scan.unseenName === name) {
    scan.unseenDepth += 1;
  } else if (scan.unseenName === '' && ((flags & UNSEEN) !== 0 || isHidden(scan, name))) {
    scan.unseenName = name;
    scan.unseenDepth = 1;
    scan.openAround.set(scan.openCounts);
  }
};

/** Pages that hide their whole body show it by script once they are ready. */
const isHidden = (scan: Scan, name: string): boolean => scan.tag.hidden && name !== 'body' && name !== 'html';

const isHiddenInput = (scan: Scan, name: string): boolean =>
  name === 'input' && attributeValue(scan.tag, TYPE).toLowerCase() === 'hidden';

const beginFrameset = (scan: Scan): void => {
  if (scan.templates > 0) return;
  if (scan.head !== null) {
    if (!scan.framesetAllowed) return;
    cutHrefs(scan.hrefs, scan.head.hrefs);
    scan.title = scan.head.title;
    scan.base = scan.head.base;
    scan.canonical = scan.head.canonical;
    scan.sink.out = '';
  }
  scan.frameset = true;
  scan.framesetDepth = 1;
};

const readElement = (scan: Scan, name: string): void => {
  if (name === 'template') {
    scan.framesetAllowed = false;
    // Content with a shadow root is shown in place; all other templates are only material for scripts.
    if (scan.templates > 0 || !has(scan.tag, SHADOW_ROOT)) scan.templates += 1;
  }
  if (scan.templates > 0) return;
  switch (name) {
    case 'a':
    case 'area':
      if (has(scan.tag, HREF)) addLink(scan, HREF);
      break;
    case 'iframe':
      readFrame(scan);
      break;
    case 'link':
      if (has(scan.tag, HREF)) readLink(scan);
      break;
    case 'base':
      if (scan.base === null && has(scan.tag, HREF)) scan.base = tidyHref(attributeValue(scan.tag, HREF));
      break;
    case 'meta':
      readMeta(scan);
      break;
    case 'html':
      readLanguage(scan);
      break;
  }
};

/** Commas are no separators in HTML, but `nofollow,noopener` is written, and meant. */
const relations = (scan: Scan): readonly string[] =>
  has(scan.tag, REL)
    ? attributeValue(scan.tag, REL)
        .toLowerCase()
        .split(/[\s,]+/)
    : [];

const addLink = (scan: Scan, slot: number): void => {
  if (!relations(scan).includes('nofollow')) addHref(scan.hrefs, attributeValue(scan.tag, slot));
};

const readLink = (scan: Scan): void => {
  const rel = relations(scan);
  const isCanonical = rel.includes('canonical');
  if (!isFirstFeed(scan, rel) && !isCanonical && !rel.includes('next')) return;
  const href = attributeValue(scan.tag, HREF);
  if (isCanonical && scan.canonical === '') scan.canonical = tidyHref(href);
  if (!rel.includes('nofollow')) addHref(scan.hrefs, href);
};

/**
 * The first feed that a page names is that of its site; behind it stand those of its comments, one more for every page.
 * Other alternates are the same page in another form or language, which pages link to for their readers as well.
 */
const isFirstFeed = (scan: Scan, rel: readonly string[]): boolean => {
  if (scan.hasFeed || !rel.includes('alternate') || rel.includes('nofollow')) return false;
  scan.hasFeed = FEED_TYPES.has(essence(attributeValue(scan.tag, TYPE)));
  return scan.hasFeed;
};

/** A frame or iframe shows a page of its own. */
export const readFrame = (scan: Scan): void => {
  if (has(scan.tag, SRC)) addLink(scan, SRC);
};

const readMeta = (scan: Scan): void => {
  if (attributeValue(scan.tag, HTTP_EQUIV).toLowerCase() === 'refresh')
    addHref(scan.hrefs, refreshTarget(attributeValue(scan.tag, CONTENT)));
  const name = attributeValue(scan.tag, NAME).trim().toLowerCase();
  if (name === 'robots' || name === scan.options.productToken)
    addMeta(scan.directives, attributeValue(scan.tag, CONTENT));
};
