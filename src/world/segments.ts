/** The parts of shaped pages that are made once: a page copies some of them, and packs none of them again. */

import { constants, deflateRawSync } from 'node:zlib';
import { NAMES, SECTIONS, sentenceFor } from './prose.ts';
import { type Dice, diceFor, mix, pick } from './random.ts';
import type { PageShape } from './shape.ts';

export interface Segment {
  readonly plain: Buffer;
  /** A piece of a deflate stream that refers to nothing before it, so that pieces can be strung together. */
  readonly packed: Buffer;
}

export interface Segments {
  /** Text and markup. */
  readonly content: readonly Segment[];
  readonly contentBytes: number;
  /** Scripts and style sheets; none where the shape has none. */
  readonly script: readonly Segment[];
  readonly scriptBytes: number;
}

/** What is in the content segments of one page of mean size. */
export interface ContentWanted {
  readonly bytes: number;
  readonly textBytes: number;
  readonly tags: number;
  readonly attributes: number;
}

/** So many make the content of a page of mean size: enough to follow its size, few enough that each packs well. */
export const CONTENT_SEGMENTS = 8;
const POOL = 48;
export const SCRIPT_SEGMENT_BYTES = 7_500;

export const packPiece = (text: Buffer, level: number): Buffer =>
  deflateRawSync(text, { level, finishFlush: constants.Z_SYNC_FLUSH });

/** What most web servers pack with. */
const LEVEL = 6;

const segmentOf = (html: string): Segment => {
  const plain = Buffer.from(html, 'latin1');
  return { plain, packed: packPiece(plain, LEVEL) };
};

export const makeSegments = (seed: number, shape: PageShape, wanted: ContentWanted): Segments => {
  const part = Object.fromEntries(Object.entries(wanted).map(([name, n]) => [name, n / CONTENT_SEGMENTS]));
  const content = Array.from({ length: POOL }, (_, n) =>
    segmentOf(contentHtml(mix(seed, n), part as unknown as ContentWanted)),
  );
  const script = Array.from({ length: shape.scriptShare > 0 ? POOL : 0 }, (_, n) =>
    segmentOf(scriptHtml(mix(seed, ~n), n % 4 === 0 ? 'style' : 'script')),
  );
  return { content, contentBytes: meanBytes(content), script, scriptBytes: meanBytes(script) };
};

const meanBytes = (segments: readonly Segment[]): number =>
  segments.length === 0 ? 0 : segments.reduce((sum, { plain }) => sum + plain.length, 0) / segments.length;

const nameFrom = (dice: Dice): string => `${pick(NAMES, dice(1e6))}-${dice(1e4).toString(36)}`;

/** Attributes as component frameworks write them; the last of them takes what bytes are left. */
const attributeHtml = (dice: Dice, n: number): string => {
  switch (n % 5) {
    case 0:
      return ` class="${pick(NAMES, dice(1e6))}__${pick(SECTIONS, dice(1e6))}"`;
    case 1:
      return ` data-${pick(SECTIONS, dice(1e6))}="${dice(1e5)}"`;
    case 2:
      return ` id="${pick(NAMES, dice(1e6))}${dice(1e4)}"`;
    case 3:
      return ` role="${pick(SECTIONS, dice(1e6))}"`;
    default:
      return ` aria-label="${pick(NAMES, dice(1e6))}"`;
  }
};

/** A list of pictures in several widths, which is where many bytes of a real page are. */
const fillerHtml = (dice: Dice, bytes: number): string => {
  const name = nameFrom(dice);
  let value = '';
  for (let width = 160; value.length < bytes; width += 160) {
    value += `/media/${pick(SECTIONS, dice(1e6))}/${name}-${dice(1e7).toString(36)}-${width}.jpg ${width}w, `;
  }
  return ` data-srcset="${value}"`;
};

const ELEMENTS = ['div', 'div', 'span', 'div', 'li', 'h3', 'button', 'figure'] as const;
/** An element and its end tag are inside their parent up to this depth. */
const DEPTH_MAX = 5;

const contentHtml = (key: number, wanted: ContentWanted): string => {
  const dice = diceFor(key);
  const ends: string[] = [];
  let html = '';
  let text = 0;
  let attributes = 0;
  const tags = Math.round(wanted.tags);
  for (let tag = 1; tag <= tags; tag++) {
    const due = tag / tags;
    if (ends.length > 0 && (ends.length >= DEPTH_MAX || dice(2) === 0)) html += ends.pop();
    const wantsText = text < due * wanted.textBytes;
    const name = wantsText && dice(3) === 0 ? 'p' : pick(ELEMENTS, dice(1e6));
    html += `<${name}`;
    const room = due * wanted.bytes - html.length;
    const many = Math.round(due * wanted.attributes) - attributes;
    attributes += Math.max(0, many);
    for (let n = 0; n < many; n++) {
      const isFiller = n === many - 1 && room > 160;
      html += isFiller ? fillerHtml(dice, room - 120) : attributeHtml(dice, n === 0 ? 0 : dice(5));
    }
    html += '>';
    if (wantsText) {
      const sentence = `${sentenceFor(mix(key, tag))} `;
      html += sentence;
      text += sentence.length;
    }
    if (name === 'p') html += '</p>\n';
    else ends.push(`</${name}>\n`);
  }
  return html + ends.reverse().join('');
};

const scriptHtml = (key: number, kind: 'script' | 'style'): string => {
  const dice = diceFor(key);
  let text = '';
  while (text.length < SCRIPT_SEGMENT_BYTES) text += kind === 'style' ? ruleText(dice) : statementText(dice);
  return `<${kind}>${text}</${kind}>\n`;
};

const ruleText = (dice: Dice): string =>
  `.${pick(NAMES, dice(1e6))}__${pick(SECTIONS, dice(1e6))}{display:flex;margin:${dice(40)}px ${dice(40)}px;` +
  `color:#${dice(0xffffff).toString(16).padStart(6, '0')};padding:0 ${dice(9)}px}`;

/** Minified code and the state that frameworks leave in a page. */
const statementText = (dice: Dice): string =>
  dice(2) === 0
    ? `!function(e,t){for(var n=0,r=e.${pick(NAMES, dice(1e6))}.length;n<r;n++)t["${nameFrom(dice)}"]=n*${dice(1e4)}}(window,document);`
    : `self.__state=Object.assign(self.__state||{},{"id":"${dice(1e9).toString(36)}","slot":${dice(40)},"url":"/${pick(SECTIONS, dice(1e6))}/${nameFrom(dice)}","shown":true,"width":${dice(2e3)}});`;
