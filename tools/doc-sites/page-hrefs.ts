/** The links that a reader of a page could follow, as written, from the tree that parse5 makes of it. */

import { parse, parseFragment, type DefaultTreeAdapterTypes } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

export interface PageHrefs {
  /** What the links are relative to, as written; null without a `base`. */
  readonly base: string | null;
  readonly hrefs: readonly string[];
}

export const pageHrefs = (bytes: Uint8Array): PageHrefs => {
  const found = { base: null as string | null, hrefs: [] as string[], isClosed: false };
  const walk = (node: Node): void => {
    if ('tagName' in node) {
      found.base ??= node.tagName === 'base' ? attributeOf(node, 'href') : null;
      found.isClosed ||= saysNofollow(node);
      found.hrefs.push(...hrefsOf(node));
      // parse5 reads it as text, as browsers do.
      if (node.tagName === 'noframes') for (const child of parseFragment(textOf(node)).childNodes) walk(child);
    }
    if ('childNodes' in node) for (const child of node.childNodes) walk(child);
  };
  walk(parse(textIn(bytes), { scriptingEnabled: false }));
  return { base: found.base, hrefs: found.isClosed ? [] : found.hrefs };
};

const attributeOf = (element: Element, name: string): string | null =>
  element.attrs.find((attribute) => attribute.name === name)?.value ?? null;

const textOf = (element: Element): string =>
  element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');

const wordsOf = (element: Element, name: string): string[] =>
  (attributeOf(element, name) ?? '').toLowerCase().split(/[\s,]+/);

const saysNofollow = (element: Element): boolean =>
  element.tagName === 'meta' &&
  wordsOf(element, 'name').includes('robots') &&
  wordsOf(element, 'content').some((word) => word === 'nofollow' || word === 'none');

/** As docs/architecture.md says where links are found; feeds are left out, since no manual has one. */
const hrefsOf = (element: Element): string[] => {
  const rel = wordsOf(element, 'rel');
  if (rel.includes('nofollow')) return [];
  const given = (name: string): string[] => {
    const value = attributeOf(element, name);
    return value === null ? [] : [value];
  };
  switch (element.tagName) {
    case 'a':
    case 'area':
      return given('href');
    case 'link':
      return rel.includes('next') || rel.includes('canonical') ? given('href') : [];
    case 'iframe':
    case 'frame':
      return given('src');
    case 'meta': {
      if (attributeOf(element, 'http-equiv')?.toLowerCase() !== 'refresh') return [];
      const [, to] = /^[\s\d.]+[;,]\s*url\s*=\s*["']?([^"']+)/i.exec(attributeOf(element, 'content') ?? '') ?? [];
      return to === undefined ? [] : [to];
    }
    default:
      return [];
  }
};

/** Bytes of a page in which its encoding is named, if it is (HTML standard, 13.2.3.2). */
const HEAD_BYTES = 1_024;

const textIn = (bytes: Uint8Array): string => {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  const [, label = 'utf-8'] = /(?:charset|encoding)\s*=\s*["']?\s*([\w-]+)/i.exec(head) ?? [];
  return new TextDecoder(label).decode(bytes);
};
