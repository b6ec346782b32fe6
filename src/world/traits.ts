/** What is odd about whole sites. */

export interface TraitAbout {
  readonly about: string;
  /** Carries no curios, because it fails or is slow. */
  readonly bare: boolean;
  /** A ceiling on its articles, where they would take a crawl too long. */
  readonly pagesMax?: number;
  readonly scheme?: 'http' | 'https';
}

export type Trait =
  | 'plain'
  | 'robots-groups'
  | 'crawl-delay'
  | 'http-only'
  | 'robots-500'
  | 'robots-moved'
  | 'robots-moved-away'
  | 'robots-per-host'
  | 'robots-huge'
  | 'all-reset'
  | 'slow'
  | 'upgrade'
  | 'tls-refused'
  | 'garbage'
  | 'hang';

/** A front page and two leaves: enough to see how a site fails. */
const LEAVES = 3;

export const TRAITS: Readonly<Record<Trait, TraitAbout>> = {
  plain: { about: 'healthy; its robots.txt is one of five plain kinds', bare: false },
  'robots-groups': {
    about: 'robots.txt forbids all to `*`, and to gossamer only some paths, with wildcards and `$`',
    bare: false,
  },
  'crawl-delay': { about: 'robots.txt has a Crawl-delay, in fractions of a second', bare: false, pagesMax: 25 },
  'http-only': { about: 'resets every TLS handshake; http works', bare: false, scheme: 'http' },
  'robots-500': { about: 'robots.txt answers 500 for ever, so no page may be asked for', bare: true, pagesMax: LEAVES },
  'robots-moved': { about: 'robots.txt redirects twice within the site', bare: false },
  'robots-moved-away': { about: 'robots.txt redirects to another site', bare: false },
  'robots-per-host': { about: 'robots.txt of `blog.` forbids all, that of the bare name nothing', bare: false },
  'robots-huge': {
    about: 'robots.txt has 640 KB, with BOM and CRLF; rules for us stand at its head and at 300 KB',
    bare: false,
  },
  'all-reset': {
    about: 'every request, robots.txt too, is answered by a reset of the connection',
    bare: true,
    pagesMax: LEAVES,
  },
  slow: { about: 'every page takes `slowMs` to begin', bare: true, pagesMax: LEAVES },
  upgrade: { about: 'linked over http, where every path redirects to https', bare: false, scheme: 'https' },
  'tls-refused': {
    about: 'linked over https, but every TLS handshake is reset',
    bare: true,
    pagesMax: LEAVES,
    scheme: 'https',
  },
  garbage: {
    about: 'pages but the front page are answered with bytes that are not HTTP',
    bare: true,
    pagesMax: LEAVES,
  },
  hang: { about: 'pages but the front page are never answered; each costs a timeout', bare: true, pagesMax: LEAVES },
};

/** In order of use: a world with few sites has the first of them. */
const ORDER: readonly Trait[] = [
  'robots-groups',
  'crawl-delay',
  'http-only',
  'robots-500',
  'robots-moved',
  'robots-moved-away',
  'robots-per-host',
  'robots-huge',
  'all-reset',
  'slow',
  'upgrade',
  'tls-refused',
  'garbage',
  'hang',
  'robots-500',
];
/** Harmless enough for a large share of all sites; the failing ones cost timeouts and stay few. */
const OFTEN: readonly Trait[] = [
  'robots-groups',
  'crawl-delay',
  'http-only',
  'robots-moved',
  'robots-moved-away',
  'robots-per-host',
  'upgrade',
  'slow',
];

/** The trait of the nth site that is not a seed: beyond the first of each, two of three are plain. */
export const traitOf = (n: number): Trait => {
  if (n < ORDER.length) return ORDER[n] as Trait;
  const more = n - ORDER.length;
  return more % 3 === 0 ? (OFTEN[(more / 3) % OFTEN.length] as Trait) : 'plain';
};
