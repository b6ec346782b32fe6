/** What each element of HTML means to the scanner. */

/** Has no content and no end tag. */
export const VOID = 1;
/** Starts and ends on a line of its own. */
export const BLOCK = 2;
/** Is set off by an empty line as well. */
export const PARAGRAPH = 4;
/** A table cell. */
export const CELL = 8;
/** The content is text, not markup. */
export const RAW = 16;
/** May stand in the head: does not begin the body. */
export const HEAD = 32;
/** Ends svg and math when it starts inside them. */
export const BREAKOUT = 64;
/** `special` in the HTML standard: an end tag of another element does not reach past it. */
export const SPECIAL = 128;
/** A page with one of these in its body is no frameset any more. */
export const SETTLES_BODY = 256;
/** A reader does not see its text. */
export const UNSEEN = 512;
/** The attributes matter. */
export const READ = 1024;
/** Keeps its white space. */
export const PREFORMATTED = 2048;

export interface Tag {
  /** Counts the known names from 1; 0 is every other. */
  readonly id: number;
  readonly name: string;
  readonly flags: number;
}

const FLAGGED: readonly (readonly [flag: number, names: string])[] = [
  [VOID, 'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'],
  [
    BLOCK,
    `address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu
    nav ol optgroup option p plaintext pre search section summary table tbody tfoot thead tr ul xmp`,
  ],
  [PARAGRAPH, 'blockquote dl figure h1 h2 h3 h4 h5 h6 hr listing menu ol p plaintext pre table ul xmp'],
  [CELL, 'td th'],
  [RAW, 'iframe noembed noframes plaintext script style textarea title xmp'],
  [HEAD, 'base basefont bgsound head html link meta noframes noscript script style template title'],
  [
    BREAKOUT,
    `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing
    menu meta nobr ol p pre ruby s small span strike strong sub sup table tt u ul var`,
  ],
  [
    SPECIAL,
    `address applet area article aside base basefont bgsound blockquote body br button caption center col
    colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6
    head header hgroup hr html iframe img input li link listing main marquee menu meta nav noembed noframes noscript
    object ol p param plaintext pre script search section select source style summary table tbody td template
    textarea tfoot th thead title tr track ul wbr xmp`,
  ],
  [
    SETTLES_BODY,
    `applet area body br button dd dt embed hr iframe image img input keygen li listing marquee object pre
    select table textarea wbr xmp`,
  ],
  [UNSEEN, 'audio canvas datalist noscript video'],
  [READ, 'a annotation-xml area base font frame html iframe input link meta template'],
  [PREFORMATTED, 'listing plaintext pre xmp'],
];

const tagsByName = (): ReadonlyMap<string, Tag> => {
  const flagsOf = new Map<string, number>();
  for (const [flag, names] of FLAGGED) {
    for (const name of names.split(/\s+/)) flagsOf.set(name, (flagsOf.get(name) ?? 0) | flag);
  }
  return new Map([...flagsOf].map(([name, flags], at) => [name, { id: at + 1, name, flags }]));
};

const TAGS = tagsByName();

export const TAG_IDS = TAGS.size + 1;

/** An element without a meaning of its own. */
export const UNKNOWN: Tag = { id: 0, name: '', flags: 0 };

/** The tag of that name, in lower case. */
export const tagNamed = (name: string): Tag => TAGS.get(name) ?? { ...UNKNOWN, name };

/** The tag whose name stands between these two places, in any case. */
export const tagAt = (source: string, start: number, end: number): Tag => {
  const written = source.slice(start, end);
  const known = TAGS.get(written);
  if (known !== undefined) return known;
  const name = written.toLowerCase();
  return tagNamed(name);
};
