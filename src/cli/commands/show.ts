/** `gossamer show`: what is known of one URL, and what was archived of it. */

import { readArchived } from '../../results/archived.ts';
import { plural, writeBytes, writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import { isArchived, type WarcPlace, type PageRow } from '../../model/page.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { LinkView } from '../../contract/views.ts';
import type { Command } from '../command.ts';
import { print, printForeign, printObject } from '../listing.ts';
import { pageObject, siteObject } from '../objects.ts';
import { bold } from '../terminal.ts';
import { dirsAndUrlOf, withGathering } from './dir.ts';

export const showCommand: Command = {
  name: 'show',
  usage: 'show <dir>... <url> [--text | --html | --headers] [--json]',
  says: 'Show what is known of one URL, or print what was archived of it. Of a crawl with several members, give the directories of all.',
  flags: [
    { name: 'text', says: 'print its text' },
    { name: 'html', says: 'print its body, decoded' },
    { name: 'headers', says: 'print the request and the head of the response' },
    { name: 'json', says: 'print one JSON object: what is known of it, and what else is asked for' },
  ],
  example: 'gossamer show ./crawl https://example.org/ --text',
  run: async (read) => {
    const { dirs, url: raw } = dirsAndUrlOf(read, 'show');
    // Without a scheme it may be known by either.
    const addresses = (raw.includes('://') ? [raw] : [`https://${raw}`, `http://${raw}`])
      .map((text) => canonicalize(text))
      .filter((one) => typeof one !== 'string');
    const first = addresses[0];
    if (!first) throw new UsageError(`"${raw}" is not a URL that a crawl can have`);
    const site = siteOf(first.host);
    return withGathering(dirs, async ({ crawl, identity }) => {
      const { keep } = identity.settings;
      const kept = keep === 'all' ? '' : `, and --keep is ${keep}`;
      const views = await Promise.all(addresses.map(({ url }) => crawl.link(url, site)));
      const pages = views.map((view) => view.page);
      const page = pages.find(isFetched) ?? pages.find((one) => one !== null);
      const isJson = read.switches.has('json');
      if (!page) {
        const view = views[0]!;
        const { says, isKnown } = unsettled(view, first.url, site);
        await (isJson ? printObject(objectOf(first.url, view)) : print(visible(says)));
        return isKnown ? 0 : 1;
      }
      const view = views.find((one) => one.page === page)!;
      const wanted = (['text', 'html', 'headers'] as const).filter((name) => read.switches.has(name));
      if (wanted.length === 0) await (isJson ? printObject(objectOf(page.url, view)) : print(describe(page)));
      else if (!isArchived(page))
        throw new UsageError(`nothing was archived of ${page.url}: its outcome is ${page.outcome}${kept}`);
      else if (isJson)
        await printObject({
          ...objectOf(page.url, view),
          ...Object.fromEntries(wanted.map((name) => [name, partOf(dirs, page, name)])),
        });
      else {
        for (const name of wanted) {
          const text = archived(dirs, page, name);
          await printForeign(text);
          // an empty output tells nothing
          if (text === '') console.error(`gossamer: the archive has no ${name} of ${visible(page.url)}${kept}`);
        }
      }
      return 0;
    });
  },
};

/** The one of the two addresses of a bare domain that answered. */
const isFetched = (page: PageRow | null): boolean => page !== null && isArchived(page);

const describe = (page: PageRow): string => {
  const rows: [string, string][] = [
    ['outcome', page.outcome],
    ['status', page.status === null ? '' : String(page.status)],
    ['time', `${new Date(page.time).toISOString()}, took ${writeDuration(page.duration_ms)}`],
    ['type', page.content_type],
    [
      'bytes',
      page.status === null ? '' : `${writeBytes(page.bytes)}${page.truncated ? ` (truncated: ${page.truncated})` : ''}`,
    ],
    ['title', page.title],
    ['charset', `${page.charset}${page.charset_guessed ? ' (guessed)' : ''}`],
    ['language', page.language],
    ['redirect', page.redirect],
    ['digest', page.digest],
    ['noindex', page.noindex ? 'yes' : ''],
    ['robots', page.robots],
    ['depth', String(page.depth)],
    ['found on', page.via || 'a seed'],
    ['tries', String(page.tries)],
    ['detail', page.detail],
    ['tls', page.tls],
    ['extracted', page.extracted ?? ''],
    [
      'archive',
      isArchived(page) ? `${page.warc_file}, offset ${page.warc_offset}, ${page.warc_length} bytes` : 'nothing',
    ],
  ];
  return [
    bold(visible(page.url)),
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(10)}${visible(value)}`),
  ].join('\n');
};

const unsettled = ({ site, state }: LinkView, url: string, name: string): { says: string; isKnown: boolean } => {
  if (!site) return { says: `${url} is not known; its site ${name} neither`, isKnown: false };
  if (state === 'leased') return { says: `${url} is being visited, or was when the crawl ended`, isKnown: true };
  if (state === 'settled')
    return {
      says: `${url} was settled by another member of this crawl: its row is in the directory of that one: give that, too (gossamer members lists them)`,
      isKnown: true,
    };
  if (state === 'unknown')
    return {
      says: `${url} is not known; its site ${name} is, with ${plural(site.pages, 'page')} and ${plural(site.waiting, 'link')}`,
      isKnown: false,
    };
  const when =
    site.dueAt > Date.now() ? `may be visited in ${writeDuration(site.dueAt - Date.now())}` : 'may be visited now';
  return {
    says: `${url} is ${state}; its site ${name} has ${plural(site.waiting, 'link')} and ${when}`,
    isKnown: true,
  };
};

const objectOf = (url: string, { state, page, site }: LinkView): object => ({
  url,
  state,
  page: page && pageObject(page),
  site: site && siteObject(site),
});

/** For a program, the heads of the request and of the response are two texts. */
const partOf = (dirs: readonly string[], place: WarcPlace, what: 'text' | 'html' | 'headers'): string | object =>
  what === 'headers' ? headsOf(dirs, place) : readArchived(dirs, place, what);

const headsOf = (dirs: readonly string[], place: WarcPlace): { response: string; request: string } => ({
  response: readArchived(dirs, place, 'answerHead'),
  request: readArchived(dirs, place, 'requestHead'),
});

const archived = (dirs: readonly string[], place: WarcPlace, what: 'text' | 'html' | 'headers'): string => {
  switch (what) {
    case 'text':
      return readArchived(dirs, place, 'text').replace(/.$/s, '$&\n');
    case 'html':
      return readArchived(dirs, place, 'html');
    case 'headers':
      return Object.values(headsOf(dirs, place)).join('');
    default:
      return what satisfies never;
  }
};
