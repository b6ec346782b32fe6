/** Gathers the text a reader sees, its white space made sane. */

import { isSpace } from './attributes.ts';
import { createReference, readReference, type Reference } from './references.ts';

const GAPS = ['', ' ', '\t', '\n', '\n\n'] as const;
const NO_GAP = 0;
const SPACE_GAP = 1;
export const CELL_GAP = 2;
export const LINE_GAP = 3;
export const PARAGRAPH_GAP = 4;

/** White space kept in one place of preformatted text: wide enough for code and for columns. */
const INDENT_CHARS_MAX = 200;

const LESS = 60;
const AMPERSAND = 38;
const SPACE = 32;
const NEWLINE = 10;
const RETURN = 13;
const NO_BREAK_SPACE = 0xa0;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;

export interface TextSink {
  out: string;
  /** What stands between `out` and the next visible character: an index into GAPS. */
  gap: number;
  /** White space that begins a line of preformatted text. */
  indent: string;
  readonly reference: Reference;
}

export const createTextSink = (): TextSink => ({ out: '', gap: NO_GAP, indent: '', reference: createReference() });

/** At least this much room before what comes next. */
export const leaveGap = (sink: TextSink, gap: number): void => {
  if (gap > sink.gap) sink.gap = gap;
  sink.indent = '';
};

/** A line break as written: two of them leave an empty line, more leave no more. */
export const breakLine = (sink: TextSink): void => {
  leaveGap(sink, sink.gap >= LINE_GAP ? PARAGRAPH_GAP : LINE_GAP);
};

const append = (sink: TextSink, run: string): void => {
  if (sink.out === '') sink.out = run;
  else if (sink.gap === NO_GAP && sink.indent === '') sink.out += run;
  else sink.out += GAPS[sink.gap] + sink.indent + run;
  sink.gap = NO_GAP;
  sink.indent = '';
};

/** Whether a `<` followed by this begins markup. */
export const opensMarkup = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 47 || code === 33 || code === 63;

export interface Stretch {
  readonly from: number;
  /** Where to stop at the latest. */
  readonly to: number;
  /** Whether `<` and `&` mean something here. */
  readonly markup: boolean;
  readonly preformatted: boolean;
}

/** Takes in the text from `from` to the next markup or to `to`, and says where it stopped. */
export const readText = (sink: TextSink, source: string, stretch: Stretch): number => {
  const { to, markup, preformatted } = stretch;
  let runStart = stretch.from;
  let at = stretch.from;
  while (at < to) {
    const code = source.charCodeAt(at);
    if (code > AMPERSAND && code < 127 && code !== LESS) {
      at += 1;
      continue;
    }
    if (code === SPACE && at > runStart && !preformatted) {
      // One space between two words stays in the run: most of a text is this.
      const next = source.charCodeAt(at + 1);
      if (next > SPACE && next < 127 && next !== LESS && at + 1 < to) {
        at += 1;
        continue;
      }
    }
    if (code === LESS) {
      if (markup && opensMarkup(source.charCodeAt(at + 1))) break;
      at += 1;
    } else if (code === AMPERSAND) {
      if (markup && readReference(source, at, sink.reference)) {
        if (at > runStart) append(sink, source.slice(runStart, at));
        readPlain(sink, sink.reference.text, preformatted);
        runStart = at = sink.reference.end;
      } else {
        at += 1;
      }
    } else if (isOdd(code)) {
      if (at > runStart) append(sink, source.slice(runStart, at));
      at = readOdd(sink, source, { at, to, preformatted });
      runStart = at;
    } else {
      at += 1;
    }
  }
  if (at > runStart) append(sink, source.slice(runStart, at));
  return at;
};

/** Text that a reference stood for: `&nbsp;` is a space like any other, `&lt;` is no markup. */
const readPlain = (sink: TextSink, text: string, preformatted: boolean): void => {
  readText(sink, text, { from: 0, to: text.length, markup: false, preformatted });
};

/** White space and control characters: everything that does not go into the text as it is. */
const isOdd = (code: number): boolean =>
  code <= SPACE || (code >= 127 && code <= NO_BREAK_SPACE) || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR;

const isBlank = (code: number): boolean =>
  isSpace(code) || code === NO_BREAK_SPACE || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR;

const readOdd = (
  sink: TextSink,
  source: string,
  place: { readonly at: number; readonly to: number; readonly preformatted: boolean },
): number => {
  let at = place.at;
  for (; at < place.to; at += 1) {
    const code = source.charCodeAt(at);
    if (!isOdd(code)) break;
    if (!isBlank(code)) continue;
    if (!place.preformatted) {
      if (sink.gap < SPACE_GAP) sink.gap = SPACE_GAP;
    } else if (code === NEWLINE || (code === RETURN && source.charCodeAt(at + 1) !== NEWLINE)) {
      breakLine(sink);
    } else if (code !== RETURN && sink.indent.length < INDENT_CHARS_MAX) {
      sink.indent += code === 9 ? '\t' : ' ';
    }
  }
  return at;
};

/** One line of text, as titles are: runs of white space become one space. */
export const oneLine = (text: string): string => {
  const sink = createTextSink();
  readPlain(sink, text, false);
  return sink.out;
};
