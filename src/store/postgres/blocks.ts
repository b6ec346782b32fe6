/** How waiting links are cut into blocks: those that one page gives one site lie together. */

/** About half a database page: most blocks are what one page gives one site, and few are cut. */
const BLOCK_CHARS_MAX = 3_500;

/** The block under way at one end of a site's queue. */
export interface OpenBlock {
  /** Where its links were found. */
  readonly via: string;
  chars: number;
}

/** The block that takes a link: the open one, or one that is made because that is full or of another page. */
export const blockFor = <B extends OpenBlock>(
  open: Map<string, B>,
  { end, via, text }: { readonly end: string; readonly via: string; readonly text: string },
  make: () => B,
): B => {
  let block = open.get(end);
  if (!block || block.via !== via || block.chars + text.length > BLOCK_CHARS_MAX) open.set(end, (block = make()));
  block.chars += text.length;
  return block;
};
