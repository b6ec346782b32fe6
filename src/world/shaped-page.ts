/** A page with the size, text, tags and links of real ones: ready-made segments with the page's own links between. */

import { crc32 } from 'node:zlib';
import { mix } from './random.ts';
import {
  CONTENT_SEGMENTS,
  makeSegments,
  packPiece,
  SCRIPT_SEGMENT_BYTES,
  type Segment,
  type Segments,
} from './segments.ts';
import { type DrawnShape, type PageShape, SHAPES, type ShapeName } from './shape.ts';
import { escapeHtml, type HrefLink, type Sheet, sheetOf } from './sheet.ts';

export interface ShapedParts {
  readonly key: number;
  readonly title: string;
  readonly links: readonly HrefLink[];
  readonly drawn: DrawnShape;
}

export interface PageMaker {
  readonly shape: PageShape;
  sheet(parts: ShapedParts): Sheet;
}

/** What stands around the segments on every page; counted when the segments are made. */
const HEAD_TAGS = 16;
const HEAD_ATTRIBUTES = 22;
const HEAD_BYTES = 1_400;
const LINK_TAGS = 2;
const LINK_ATTRIBUTES = 3;
/** Without the address and the words. */
const LINK_MARKUP_BYTES = 62;
const LINK_TEXT_BYTES = 31;
const LINK_ADDRESS_BYTES = 30;

const META = [
  'description',
  'author',
  'theme-color',
  'twitter:card',
  'twitter:site',
  'robots',
  'generator',
  'viewport',
];

const openingHtml = (parts: ShapedParts): string => {
  const title = escapeHtml(parts.title);
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>\n` +
    META.map((name) => `<meta name="${name}" content="${title}, a page of the small web, ${parts.key}">\n`).join('') +
    `<link rel="stylesheet" href="/site.css"><link rel="icon" href="/icon.png"></head>\n<body><main><h1>${title}</h1>\n`
  );
};
const CLOSING = '</main></body></html>\n';

const linksHtml = (links: readonly HrefLink[]): string => {
  let html = '<ul>\n';
  for (const { markup } of links)
    html += `<li class="teaser__item">${markup.replace('<a ', '<a class="teaser__link" ')}</li>\n`;
  return `${html}</ul>\n`;
};

/** gzip's head with no name and no time, and the last block of a deflate stream, which is empty. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
const LAST_BLOCK = Buffer.from([3, 0]);
/** The page's own part is packed for every request: as cheap as it can be. */
const OWN_LEVEL = 1;

const gzipOf = (pieces: readonly Segment[]): Buffer => {
  const end = Buffer.alloc(8);
  end.writeUInt32LE(
    pieces.reduce((sum, { plain }) => crc32(plain, sum), 0),
    0,
  );
  end.writeUInt32LE(
    pieces.reduce((sum, { plain }) => sum + plain.length, 0),
    4,
  );
  return Buffer.concat([GZIP_HEAD, ...pieces.map(({ packed }) => packed), LAST_BLOCK, end]);
};

/** With `gzip` the same bytes are sent as most servers send them. */
export const createPageMaker = (name: ShapeName, { seed, gzip }: { seed: number; gzip: boolean }): PageMaker => {
  const shape = SHAPES[name];
  const links = shape.links.mean;
  const linkBytes = LINK_MARKUP_BYTES + LINK_TEXT_BYTES + LINK_ADDRESS_BYTES;
  const scriptTags = (shape.bytes.mean * shape.scriptShare) / SCRIPT_SEGMENT_BYTES;
  const segments = makeSegments(seed, shape, {
    bytes: shape.bytes.mean * (1 - shape.scriptShare) - HEAD_BYTES - links * linkBytes,
    // Between two tags there is a line break, which counts as text.
    textBytes: shape.textBytes.mean - links * LINK_TEXT_BYTES - shape.tags.mean,
    tags: shape.tags.mean - HEAD_TAGS - links * LINK_TAGS - scriptTags,
    attributes: shape.attributes.mean - HEAD_ATTRIBUTES - links * LINK_ATTRIBUTES,
  });
  const own = (html: string): Segment => {
    const plain = Buffer.from(html, 'latin1');
    return { plain, packed: gzip ? packPiece(plain, OWN_LEVEL) : plain };
  };
  const compose = (parts: ShapedParts): Buffer => {
    const opening = own(openingHtml(parts));
    const list = own(linksHtml(parts.links) + CLOSING);
    const ready = readyMade(segments, shape, { ...parts, ownBytes: opening.plain.length + list.plain.length });
    const pieces = [opening, ...ready, list];
    return gzip ? gzipOf(pieces) : Buffer.concat(pieces.map(({ plain }) => plain));
  };
  const headers = { 'content-type': 'text/html; charset=utf-8', ...(gzip ? { 'content-encoding': 'gzip' } : {}) };
  return { shape, sheet: (parts) => sheetOf({ headers, links: parts.links, body: () => compose(parts) }) };
};

/** Content by the amount of text, and as many scripts as the rest of the size asks for. */
const readyMade = (
  { content, contentBytes, script, scriptBytes }: Segments,
  shape: PageShape,
  { key, drawn, ownBytes }: ShapedParts & { ownBytes: number },
): Segment[] => {
  const contents =
    script.length > 0
      ? (CONTENT_SEGMENTS * drawn.textBytes) / shape.textBytes.mean
      : (drawn.bytes - ownBytes) / contentBytes;
  const chosen = takenFrom(content, contents, key);
  const left = drawn.bytes - ownBytes - chosen.length * contentBytes;
  return [...takenFrom(script, script.length > 0 ? left / scriptBytes : 0, ~key), ...chosen];
};

const takenFrom = (pool: readonly Segment[], many: number, key: number): Segment[] =>
  Array.from({ length: Math.max(0, Math.round(many)) }, (_, n) => pool[mix(key, n) % pool.length] as Segment);
