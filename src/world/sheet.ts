/** What the model says about one URL: the links on it, and how it is answered. */

export interface Request {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** With the query. */
  readonly path: string;
}

/** How the bytes of a response travel. */
export type Delivery = 'plain' | 'chunked' | 'slow' | 'drip' | 'endless' | 'truncate' | 'reset' | 'hang' | 'garbage';

export interface Response {
  readonly status: number;
  /** Two names that differ in case alone are one field sent twice. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly delivery: Delivery;
  /** What the first request for this URL gets instead. */
  readonly once: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | null;
}

export interface HrefLink {
  /** The canonical URL it leads to. */
  readonly to: string;
  /** The HTML that carries it, which need not look canonical. */
  readonly markup: string;
  /** `maybe`: two right crawlers may differ, so a report complains neither way. */
  readonly follow: 'yes' | 'maybe' | 'no';
}

export interface Sheet {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly links: readonly HrefLink[];
  /** Where a redirect leads, canonical; empty when it is none. */
  readonly redirect: string;
  /** It never answers properly, however often it is asked. */
  readonly failing: boolean;
  readonly delivery: Delivery;
  readonly once: Response['once'];
  /** Made when it is served, never when it is only walked over. */
  readonly body: () => Uint8Array;
}

const NOTHING = new Uint8Array(0);

const blank: Sheet = {
  status: 200,
  headers: {},
  links: [],
  redirect: '',
  failing: false,
  delivery: 'plain',
  once: null,
  body: () => NOTHING,
};

export const sheetOf = (parts: Partial<Sheet>): Sheet => ({ ...blank, ...parts });

export const redirectTo = (to: string, written: string = to): Sheet =>
  sheetOf({ status: 301, headers: { location: written }, redirect: to });

export const textSheet = (type: string, body: () => Uint8Array): Sheet =>
  sheetOf({ headers: { 'content-type': type }, body });

/** Fails in this way for ever. */
export const brokenSheet = (delivery: Delivery, whole: Sheet = blank): Sheet => ({
  ...whole,
  links: [],
  failing: true,
  delivery,
});

export const responseOf = (sheet: Sheet): Response => ({
  status: sheet.status,
  headers: sheet.headers,
  body: sheet.body(),
  delivery: sheet.delivery,
  once: sheet.once,
});

const MARKUP = /[&"<]/;

/** One look first: of a million addresses hardly one has anything to escape. */
export const escapeHtml = (text: string): string =>
  !MARKUP.test(text) ? text : text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** An ordinary link, written as `href` if that is given. */
export const anchor = (to: string, text: string, href: string = to): HrefLink => ({
  to,
  markup: `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`,
  follow: 'yes',
});

/** A link in other markup than an ordinary anchor. */
export const marked = (to: string, markup: string): HrefLink => ({ to, markup, follow: 'yes' });

/** Looks like a link, but no right crawler asks for it. */
export const decoy = (to: string, markup: string): HrefLink => ({ to, markup, follow: 'no' });
