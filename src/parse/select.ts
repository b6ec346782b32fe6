/** Elements of a page by CSS selectors. Whoever uses it pays for it: the libraries are loaded at the first call. */

import type { Htmlparser2TreeAdapterMap as Tree } from 'parse5-htmlparser2-tree-adapter';
import { UsageError } from '../model/read-settings.ts';

type ChildNode = Tree['childNode'];
type Element = Tree['element'];
type ParentNode = Tree['parentNode'];

/** Elements inside of one another: browsers keep 512, and what a page nests deeper is nobody's price. */
const TREE_DEPTH_MAX = 512;

/** An element of a page that a selector found. */
export interface Selected {
  /** The name of the element, in lower case. */
  readonly tag: string;
  /** The text of the element and of all elements in it, with single spaces. */
  readonly text: string;
  /** The element as HTML, with what is in it. */
  readonly html: string;
  /** The value of an attribute; null when it has none of this name. */
  attr(name: string): string | null;
  /** Elements inside of it, in the order of the page. */
  select(css: string): readonly Selected[];
}

/** What selects among the elements of one page. Throws a UsageError when the selector cannot be read. */
export type Select = (css: string) => readonly Selected[];

/** Reads a page into a tree as browsers do, tag soup too, and gives what selects in it. */
export const openSelect = async (html: string): Promise<Select> => {
  const [{ parse, serializeOuter }, { adapter }, { selectAll }] = await Promise.all([
    import('parse5'),
    import('parse5-htmlparser2-tree-adapter'),
    import('css-select'),
  ]);
  const selectIn = (root: ParentNode, css: string): readonly Selected[] =>
    found(css, () => selectAll<ChildNode, Element>(css, root.children)).map(toSelected);
  const toSelected = (element: Element): Selected => ({
    tag: element.name,
    get text() {
      return textOf(element);
    },
    get html() {
      return serializeOuter(element, { treeAdapter: adapter });
    },
    attr: (name) => element.attribs[name.toLowerCase()] ?? null,
    select: (css) => selectIn(element, css),
  });
  const tree = parse(html, { treeAdapter: adapter });
  cutAt(TREE_DEPTH_MAX, tree);
  return (css) => selectIn(tree, css);
};

const found = <T>(css: string, select: () => T): T => {
  try {
    return select();
  } catch (error) {
    throw new UsageError(`the selector ${JSON.stringify(css)} is not understood: ${(error as Error).message}`);
  }
};

/** Selecting walks up from elements to their parents: in a tree without a bottom, one page would take minutes. */
const cutAt = (depthMax: number, root: ParentNode): void => {
  const left: (readonly [ParentNode, number])[] = [[root, 0]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [parent, depth] = next;
    if (depth >= depthMax) parent.children = [];
    for (const child of parent.children) if ('children' in child) left.push([child, depth + 1]);
  }
};

const textOf = (element: ParentNode): string => {
  const texts: string[] = [];
  const look = (node: ChildNode): void => {
    if ('children' in node) node.children.forEach(look);
    else if (node.type === 'text') texts.push(node.data);
  };
  look(element as ChildNode);
  return texts.join('').replace(/\s+/g, ' ').trim();
};
