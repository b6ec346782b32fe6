/**
 * Which rules hold inside svg and math, where `<title>` is no title and `<style>` no style sheet.
 *
 * Only while a page is inside one of them are its open elements kept, from the outermost svg or
 * math inwards: HTML in a `foreignObject` too, because its end tags decide where that ends.
 */

import { type Attributes, ENCODING, FONT, has, attributeValue } from './attributes.ts';
import { BREAKOUT, SPECIAL, type Tag, VOID } from './tags.ts';

/** Deeper elements are read but not kept: an end tag then looks at this many at the most. */
const FOREIGN_DEPTH_MAX = 256;

type Kind = 'html' | 'svg' | 'math' | 'svg-point' | 'math-text' | 'math-annotation' | 'math-point';

interface Open {
  readonly name: string;
  readonly flags: number;
  readonly kind: Kind;
  /** The text inside is not drawn. */
  readonly unseen: boolean;
}

/** The open elements from the outermost svg or math on; empty in plain HTML. */
export type Foreign = Open[];

const SVG_POINTS: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title']);
const MATH_TEXTS: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext']);
const SVG_UNSEEN: ReadonlySet<string> = new Set(['title', 'desc', 'style', 'script', 'metadata', 'defs']);
const HTML_ENCODINGS: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

/** Takes in a start tag; true when it made an element of svg or math, false for one of HTML. */
export const openForeign = (foreign: Foreign, tag: Tag, attributes: Attributes): boolean => {
  let current = foreign.at(-1);
  if (current !== undefined && !readsHtml(current, tag.name)) {
    if (!breaksOut(tag, attributes)) {
      if (!attributes.selfClosing) push(foreign, foreignElement(current, tag, attributes));
      return true;
    }
    leave(foreign);
    current = foreign.at(-1);
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
  const name = tag.name;
  if (foreign.at(-1)?.kind !== 'html') {
    if (name === 'p' || name === 'br') {
      leave(foreign);
    } else {
      for (let i = foreign.length - 1; i >= 0; i -= 1) {
        const open = foreign[i];
        if (open === undefined || open.kind === 'html') break;
        if (open.name === name) {
          foreign.length = i;
          return true;
        }
      }
    }
  }
  closeHtml(foreign, tag, openOutside);
  return false;
};

/** Text and marked sections are read as svg and math want them. */
export const inForeign = (foreign: Foreign): boolean => {
  const kind = foreign.at(-1)?.kind;
  return kind !== undefined && kind !== 'html';
};

export const isUnseen = (foreign: Foreign): boolean => foreign.at(-1)?.unseen ?? false;

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
  let open = foreign.at(-1);
  while (open !== undefined && open.kind !== 'html' && !isPoint(open.kind)) {
    foreign.pop();
    open = foreign.at(-1);
  }
};

const closeHtml = (foreign: Foreign, tag: Tag, openOutside: boolean): void => {
  const anywhere = tag.name === 'template';
  for (let i = foreign.length - 1; i >= 0; i -= 1) {
    const open = foreign[i];
    if (open === undefined) break;
    if (open.kind === 'html') {
      if (open.name === tag.name) {
        foreign.length = i;
        return;
      }
      if (!anywhere && (tag.flags & (SPECIAL | BREAKOUT)) === 0 && (open.flags & SPECIAL) !== 0) return;
    } else if (!anywhere && (isPoint(open.kind) || open.kind === 'math-annotation')) {
      return;
    }
  }
  if (openOutside) foreign.length = 0;
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

const push = (foreign: Foreign, open: Open): void => {
  if (foreign.length < FOREIGN_DEPTH_MAX) foreign.push(open);
};
