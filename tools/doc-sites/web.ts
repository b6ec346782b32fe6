/**
 * A web as a folder: one folder per host, and in it what the host serves. nginx reads it, and so does the walk that
 * says what there is to find.
 */

import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const INDEX = 'index.html';

/** A manual, with its pages somewhere on disk. */
export interface Manual {
  readonly name: string;
  readonly folder: string;
}

/** A site with its manual in a folder, another manual beside it on the same host, and a third one on another host. */
export interface DocSite {
  readonly name: string;
  /** The registrable domain: `test` is a top-level domain that nobody has (RFC 6761, 6.2). */
  readonly domain: string;
  readonly seed: string;
}

/** A site with a page and without a seed, which every seed links to. */
export const ELSEWHERE = 'elsewhere';

/**
 * Every manual gets a site of its own. The seed is a page of ours that links to the three manuals of its site, and to
 * another site: that link is followed in no scope.
 */
export const layOut = (web: string, manuals: readonly Manual[]): DocSite[] => {
  mkdirSync(join(web, `${ELSEWHERE}.test`), { recursive: true });
  writeFileSync(join(web, `${ELSEWHERE}.test`, INDEX), '<!DOCTYPE html><title>elsewhere</title>\n');
  return manuals.map((manual, i) => {
    const [beside, away] = [1, 2].map((step) => manuals[(i + step) % manuals.length]!) as [Manual, Manual];
    const [docs, www] = ['docs', 'www'].map((host) => `${host}.${manual.name}.test`) as [string, string];
    mkdirSync(join(web, docs, manual.name), { recursive: true });
    symlinkSync(manual.folder, join(web, docs, manual.name, 'manual'));
    symlinkSync(beside.folder, join(web, docs, 'beside'));
    mkdirSync(join(web, www));
    symlinkSync(away.folder, join(web, www, 'away'));
    const hrefs = [
      'manual/index.html',
      '../beside/index.html',
      `http://${www}/away/index.html`,
      `http://${ELSEWHERE}.test/`,
    ];
    const links = hrefs.map((href) => `<a href="${href}">${href}</a>\n`).join('');
    const page = `<!DOCTYPE html><title>${manual.name}</title>\n${links}`;
    writeFileSync(join(web, docs, manual.name, INDEX), page);
    return { name: manual.name, domain: `${manual.name}.test`, seed: `http://${docs}/${manual.name}/` };
  });
};

/** What a server of static files has at an address. */
export type Found =
  | { readonly kind: 'page'; readonly file: string }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'nothing' };

const PAGE_ENDINGS: ReadonlySet<string> = new Set(['.html', '.htm']);

export const lookUp = (web: string, url: URL): Found => {
  const path = join(web, url.hostname, decoded(url.pathname));
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return { kind: 'nothing' };
  if (!entry.isDirectory()) {
    // A slash behind the name of a file names nothing.
    if (url.pathname.endsWith('/')) return { kind: 'nothing' };
    return PAGE_ENDINGS.has(extname(path)) ? { kind: 'page', file: path } : { kind: 'other' };
  }
  if (!url.pathname.endsWith('/')) return { kind: 'redirect', to: `${url.origin}${url.pathname}/${url.search}` };
  // A folder without an index is forbidden to look into: for a crawl it is as good as not there.
  return existsSync(join(path, INDEX)) ? { kind: 'page', file: join(path, INDEX) } : { kind: 'nothing' };
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};
