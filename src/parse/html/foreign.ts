/**
 * Which rules hold inside svg and math, where `<title>` is no title and `<style>` no style sheet.
 *
 * Only while a page is inside one of them are its open elements kept, from the outermost svg or
 * math inwards: HTML in a `foreignObject` too, because its end tags decide where that ends.
 */

import { type Attributes, ENCODING, FONT, has, attributeValue } from './attributes.ts';
import { BREAKOUT, SPECIAL, type Tag, VOID } from './tags.ts';

/** Deeper elements are read but not kept. Far above what pages nest. */
const FOREIGN_DEPTH_MAX = 256;

type Kind = 'html' | 'svg' | 'math' | 'svg-point' | 'math-text' | 'math-annotation' | 'math-point';

interface Open {
  readonly name: string;
  readonly flags: number;
  readonly kind: Kind;
  /** The text inside is not drawn. */
  readonly unseen: boolean;
}

/**
 * An open element with what an end tag asks about those around it: where they stand in the list, -1 for nowhere. So an
 * end tag looks at the innermost element alone, and a page of end tags that end nothing costs what its length does.
 */
interface Kept extends Open {
  /** The next one outwards of this name, among those of HTML or among those of svg and math. */
  readonly namesake: number;
  /** The innermost one of HTML, this one included. */
  readonly html: number;
  /** The innermost one that no end tag of HTML reaches past, this one included. */
  readonly wall: number;
  /** The innermost special one of HTML, this one included: end tags of inline elements do not reach past it. */
  readonly special: number;
}

/** The open elements from the outermost svg or math on; none in plain HTML. */
export interface Foreign {
  readonly open: Kept[];
  /** Where the innermost element of each name stands, of HTML and of svg and math. */
  readonly innermost: { readonly html: Map<string, number>; readonly foreign: Map<string, number> };
}

export const createForeign = (open: Kept[] = []): Foreign => ({
  open,
  innermost: { html: new Map(), foreign: new Map() },
});

const SVG_POINTS: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title']);
const MATH_TEXTS: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext']);
const SVG_UNSEEN: ReadonlySet<string> = new Set(['title', 'desc', 'style', 'script', 'metadata', 'defs']);
const HTML_ENCODINGS: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

/** Takes in a start tag; true when it made an element of svg or math, false for one of HTML. */
export const openForeign = (foreign: Foreign, tag: Tag, attributes: Attributes): boolean => {
  let current = foreign.open.at(-1);
  if (current !== undefined && !readsHtml(current, tag.name)) {
    if (!breaksOut(tag, attributes)) {
      if (!attributes.selfClosing) push(foreign, foreignElement(current, tag, attributes));
      return true;
    }
    leave(foreign);
    current = foreign.open.at(-1);
  }
  if (tag.name === 'svg' || tag.name === 'math') {
    const unseen = current?.unseen ?? false;
    if (!attributes.selfClosing) push(foreign, { name: tag.name, flags: 0, kind: tag.name, unseen });
    return true;
  }
  if (current !== undefined && (tag.flags & VOID) === 0) {
    push(foreign, { name: tag.name, flags: tag.flags, kind: 'html', unseen: current.unseen });
  }
  return false;
};

/**
 * Takes in an end tag; `openOutside` tells whether an element of that name is open around it all.
 * True when it ended an element of svg or math, false when it is one of HTML.
 */
export const closeForeign = (foreign: Foreign, tag: Tag, openOutside: boolean): boolean => {
  const { name } = tag;
  if (name === 'p' || name === 'br') {
    leave(foreign);
  } else {
    const found = foreign.innermost.foreign.get(name) ?? -1;
    // HTML inside svg and math keeps end tags for itself.
    if (found >= 0 && found > foreign.open.at(-1)!.html) {
      cut(foreign, found);
      return true;
    }
  }
  closeHtml(foreign, tag, openOutside);
  return false;
};

/** Text and marked sections are read as svg and math want them. */
export const inForeign = (foreign: Foreign): boolean => {
  const kind = foreign.open.at(-1)?.kind;
  return kind !== undefined && kind !== 'html';
};

export const isUnseen = (foreign: Foreign): boolean => foreign.open.at(-1)?.unseen ?? false;

const readsHtml = (current: Open, name: string): boolean => {
  switch (current.kind) {
    case 'html':
    case 'svg-point':
    case 'math-point':
      return true;
    case 'math-text':
      return name !== 'mglyph' && name !== 'malignmark';
    case 'math-annotation':
      return name === 'svg';
    case 'svg':
    case 'math':
      return false;
  }
};

const breaksOut = (tag: Tag, attributes: Attributes): boolean =>
  (tag.flags & BREAKOUT) !== 0 || (tag.name === 'font' && has(attributes, FONT));

const isPoint = (kind: Kind): boolean => kind === 'svg-point' || kind === 'math-point' || kind === 'math-text';

/** Back to the nearest element in which HTML may stand. */
const leave = (foreign: Foreign): void => {
  const { open } = foreign;
  let current = open.at(-1);
  while (current !== undefined && current.kind !== 'html' && !isPoint(current.kind)) {
    cut(foreign, open.length - 1);
    current = open.at(-1);
  }
};

const closeHtml = (foreign: Foreign, tag: Tag, openOutside: boolean): void => {
  const current = foreign.open.at(-1);
  if (current === undefined) return;
  const inline = (tag.flags & (SPECIAL | BREAKOUT)) === 0;
  const barrier = tag.name === 'template' ? -1 : Math.max(current.wall, inline ? current.special : -1);
  const found = foreign.innermost.html.get(tag.name) ?? -1;
  if (found >= 0 && found >= barrier) cut(foreign, found);
  else if (barrier < 0 && openOutside) cut(foreign, 0);
};

const foreignElement = (current: Open, tag: Tag, attributes: Attributes): Open => {
  const math = current.kind.startsWith('math');
  const unseen = current.unseen || (!math && SVG_UNSEEN.has(tag.name));
  const kind = math ? mathKind(tag.name, attributes) : SVG_POINTS.has(tag.name) ? 'svg-point' : 'svg';
  return { name: tag.name, flags: 0, kind, unseen };
};

const mathKind = (name: string, attributes: Attributes): Kind => {
  if (MATH_TEXTS.has(name)) return 'math-text';
  if (name !== 'annotation-xml') return 'math';
  return HTML_ENCODINGS.has(attributeValue(attributes, ENCODING).toLowerCase()) ? 'math-point' : 'math-annotation';
};

const push = ({ open, innermost }: Foreign, element: Open): void => {
  const place = open.length;
  if (place >= FOREIGN_DEPTH_MAX) return;
  const { name, flags, kind } = element;
  const around = open.at(-1);
  const isHtml = kind === 'html';
  const places = isHtml ? innermost.html : innermost.foreign;
  const isWall = isPoint(kind) || kind === 'math-annotation';
  open.push({
    ...element,
    namesake: places.get(name) ?? -1,
    html: isHtml ? place : (around?.html ?? -1),
    wall: isWall ? place : (around?.wall ?? -1),
    special: isHtml && (flags & SPECIAL) !== 0 ? place : (around?.special ?? -1),
  });
  places.set(name, place);
};

/** Ends all but so many of the outermost: each element once, however many end tags there are. */
const cut = ({ open, innermost }: Foreign, length: number): void => {
  while (open.length > length) {
    const { name, kind, namesake } = open.pop()!;
    const places = kind === 'html' ? innermost.html : innermost.foreign;
    if (namesake < 0) places.delete(name);
    else places.set(name, namesake);
  }
};
