/** What parse5's tree of a page says: the judge of our scanner. */

import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { HREFS_PER_PAGE_MAX } from '../../src/model/findings.ts';

export interface OracleFindings {
  readonly title: string;
  readonly base: string | null;
  readonly canonical: string;
  readonly language: string;
  /** Each once, in the order of the tree, which may differ from that of the page. */
  readonly hrefs: readonly string[];
}

const HTML = 'http://www.w3.org/1999/xhtml';

/**
 * Two rules are ours and not parse5's, and are given to it here:
 * a `select` may hold any markup (the HTML standard since 2025; parse5 still drops tags inside),
 * and the content of a template with a shadow root is shown, so it is read.
 */
export const oracleFindings = (page: string): OracleFindings => {
  const document = parse(renamed(page), { scriptingEnabled: false });
  let title: string | null = null;
  let base: string | null = null;
  let canonical = '';
  let language: string | null = null;
  let hasFeed = false;
  const hrefs = new Set<string>();
  const visit = (element: DefaultTreeAdapterTypes.Element): void => {
    const attribute = (name: string): string | null =>
      element.attrs.find((attr) => attr.name === name && (attr.prefix ?? '') === '')?.value ?? null;
    const rel = (attribute('rel') ?? '').toLowerCase().split(/[\s,]+/);
    const href = attribute('href') ?? (element.namespaceURI === HTML ? null : xlink(element));
    const { tagName } = element;
    const isHtml = element.namespaceURI === HTML;
    const add = (address: string | null): void => {
      if (address !== null && !rel.includes('nofollow') && leadsSomewhere(tidy(address))) hrefs.add(tidy(address));
    };
    if (
      tagName === 'a' ||
      (isHtml && tagName === 'area') ||
      (isHtml &&
        tagName === 'link' &&
        (rel.includes('next') || rel.includes('canonical') || (!hasFeed && isFeed(rel, attribute('type')))))
    ) {
      add(href);
      hasFeed ||= isHtml && tagName === 'link' && isFeed(rel, attribute('type'));
    }
    if (!isHtml) return;
    if (tagName === 'frame' || tagName === 'iframe') add(attribute('src'));
    if (tagName === 'noframes') for (const inside of linksInNoframes(element)) hrefs.add(inside);
    if (tagName === 'meta' && attribute('http-equiv')?.toLowerCase() === 'refresh') {
      const target = refreshed(attribute('content') ?? '');
      if (leadsSomewhere(tidy(target))) hrefs.add(tidy(target));
    }
    if (tagName === 'link' && rel.includes('canonical') && href !== null) canonical ||= tidy(href);
    if (tagName === 'base' && href !== null) base ??= tidy(href);
    if (tagName === 'html') language ??= attribute('lang') ?? attribute('xml:lang');
    if (tagName === 'title')
      title ??= oneLine(element.childNodes.map((node) => ('value' in node ? node.value : '')).join(''));
  };
  walk(document, visit);
  return {
    title: restored(title ?? '').slice(0, 1_000),
    base: base === null ? null : restored(base),
    canonical: restored(canonical),
    language: restored(language ?? '').trim(),
    hrefs: firstOfEachPage(hrefs).slice(0, HREFS_PER_PAGE_MAX).map(restored),
  };
};

/** Addresses that differ in their fragments alone lead to one page. */
const firstOfEachPage = (hrefs: Iterable<string>): string[] => {
  const pages = new Map<string, string>();
  for (const href of hrefs) if (!pages.has(href.split('#')[0]!)) pages.set(href.split('#')[0]!, href);
  return [...pages.values()];
};

const isFeed = (rel: readonly string[], type: string | null): boolean =>
  rel.includes('alternate') &&
  !rel.includes('nofollow') &&
  /^\s*application\/(?:rss|atom|rdf)\+xml\s*(?:[;,]|$(?![^]))/i.test(type ?? '');

/** Its content is text to a tree; here it is a page of its own, in which a further noframes is no element. */
const linksInNoframes = (element: DefaultTreeAdapterTypes.Element): readonly string[] => {
  const content = element.childNodes.map((node) => ('value' in node ? node.value : '')).join('');
  const { hrefs } = oracleFindings(content.replace(/(<\/?noframe)s/gi, '$1d'));
  return hrefs.map((href) => href.replace(/(<\/?noframe)d/gi, '$1s'));
};

/** The steps of the HTML standard, one by one. */
const refreshed = (content: string): string => {
  let rest = content.replace(/^[\t\n\f\r ]+/, '');
  if (!/^[\d.]/.test(rest)) return '';
  rest = rest.replace(/^\d*[\d.]*/, '');
  if (!/^[;,\t\n\f\r ]/.test(rest)) return '';
  rest = rest.replace(/^[\t\n\f\r ]+/, '').replace(/^[;,]/, '');
  rest = rest.replace(/^[\t\n\f\r ]+/, '').replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '');
  return /^(["'])([^]*?)(?:\1|$(?![^]))/.exec(rest)?.[2] ?? rest;
};

/**
 * Known differences. Inside svg or math that is never closed, the end tag of an element around it
 * ends it only when nothing in between forbids that, and we keep no full list of open elements.
 * A template may leave a formatting element behind that is opened again after it. And parse5 gets
 * `select` under another name, under which it no longer keeps a frameset from replacing the body.
 */
export const mayDiffer = (page: string): boolean =>
  /<(?:svg|math)/i.test(page) ||
  (/<template/i.test(page) && /<(?:object|table|td|button)/i.test(page)) ||
  (/<select/i.test(page) && /<frameset/i.test(page));

const renamed = (page: string): string =>
  page.replace(/(<\/?sele)(c)(t)/gi, (_, before, c, after) => before + (c === 'c' ? 'k' : 'K') + after);

const restored = (value: string): string =>
  value.replace(/(<\/?sele)(k)(t)/gi, (_, before, k, after) => before + (k === 'k' ? 'c' : 'C') + after);

const xlink = (element: DefaultTreeAdapterTypes.Element): string | null =>
  element.attrs.find((attr) => attr.name === 'href' && attr.prefix === 'xlink')?.value ?? null;

/** In the order of the tree; by a list of its own, because a page may nest deeper than the call stack. */
const walk = (
  document: DefaultTreeAdapterTypes.Document,
  visit: (element: DefaultTreeAdapterTypes.Element) => void,
): void => {
  const open: DefaultTreeAdapterTypes.Node[] = [document];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('tagName' in node) visit(node);
    const children = 'childNodes' in node ? node.childNodes : [];
    for (let i = children.length - 1; i >= 0; i -= 1) open.push(children[i] as DefaultTreeAdapterTypes.ChildNode);
    if ('content' in node) {
      const template = node as DefaultTreeAdapterTypes.Template;
      if (template.attrs.some(({ name }) => name === 'shadowrootmode')) open.push(template.content);
    }
  }
};

const tidy = (href: string): string => href.replace(/^[\0-\x20]+|[\0-\x20]+$|[\t\n\r]+/g, '');

const leadsSomewhere = (href: string): boolean =>
  href !== '' && !href.startsWith('#') && !/^(?:javascript|mailto|tel|data):/i.test(href);

const oneLine = (text: string): string =>
  text
    .replace(/[\t\n\f\r \xa0\u2028\u2029]+/g, ' ')
    .replace(/[\0-\x1f\x7f-\x9f]/g, '')
    .trim();
