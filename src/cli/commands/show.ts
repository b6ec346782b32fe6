/** `gossamer show`: what is known of one URL, and what was archived of it. */

import { readArchived } from '../../crawl/archived.ts';
import { writeBytes, writeDuration } from '../../lib/units.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Place, PlacedPage } from '../../model/settlement.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { Reader } from '../../frontier/store.ts';
import type { Command } from '../command.ts';
import { bold } from '../terminal.ts';
import { crawlDirOf, withReader } from './dir.ts';

export const showCommand: Command = {
  name: 'show',
  usage: 'show <dir> <url> [--text | --html | --headers]',
  says: 'Show what is known of one URL, or print what was archived of it.',
  flags: [
    { name: 'text', says: 'print its text' },
    { name: 'html', says: 'print its body, decoded' },
    { name: 'headers', says: 'print the request and the head of the answer' },
  ],
  example: 'gossamer show ./crawl https://example.org/ --text',
  run: async (read) => {
    const dir = crawlDirOf(read, 1);
    const raw = read.words[1];
    if (raw === undefined) throw new UsageError('the URL is missing: gossamer show <dir> <url>');
    // Without a scheme it may be known by either.
    const addresses = (raw.includes('://') ? [raw] : [`https://${raw}`, `http://${raw}`])
      .map((text) => canonicalize(text))
      .filter((one) => typeof one !== 'string');
    const first = addresses[0];
    if (!first) throw new UsageError(`"${raw}" is not a URL that a crawl can have`);
    const site = siteOf(first.host);
    return withReader(dir, async (reader, { settings: { keep } }) => {
      const kept = keep === 'all' ? '' : `, and --keep is ${keep}`;
      const pages = await Promise.all(addresses.map(({ url }) => reader.page(url, site)));
      const page = pages.find(isFetched) ?? pages.find((one) => one !== null);
      if (!page) {
        const { says, isKnown } = await unsettled(reader, first.url, site);
        console.log(says);
        return isKnown ? 0 : 1;
      }
      const wanted = (['text', 'html', 'headers'] as const).filter((name) => read.switches.has(name));
      if (wanted.length === 0) console.log(describe(page));
      else if (!page.place)
        throw new UsageError(`nothing was archived of ${page.url}: its outcome is ${page.outcome}${kept}`);
      else {
        for (const name of wanted) {
          const text = archived(dir, page.place, name);
          process.stdout.write(text);
          // an empty output tells nothing
          if (text === '') console.error(`gossamer: the archive has no ${name} of ${page.url}${kept}`);
        }
      }
      return 0;
    });
  },
};

/** Of the two addresses of a bare domain, the one that answered. */
const isFetched = (page: PlacedPage | null): boolean => page !== null && page.place !== null;

const describe = (page: PlacedPage): string => {
  const rows: [string, string][] = [
    ['outcome', page.outcome],
    ['status', page.status === null ? '' : String(page.status)],
    ['time', `${new Date(page.at).toISOString()}, took ${writeDuration(page.durationMs)}`],
    ['type', page.contentType],
    [
      'bytes',
      page.status === null ? '' : `${writeBytes(page.bytes)}${page.truncated ? ` (truncated: ${page.truncated})` : ''}`,
    ],
    ['title', page.title],
    ['language', page.language],
    ['redirect', page.redirect],
    ['digest', page.digest],
    ['noindex', page.noindex ? 'yes' : ''],
    ['robots', page.robots],
    ['depth', String(page.depth)],
    ['found on', page.via || 'a seed'],
    ['tries', String(page.tries)],
    ['detail', page.detail],
    ['extracted', page.extracted],
    ['archive', page.place ? `${page.place.file}, offset ${page.place.offset}, ${page.place.length} bytes` : 'nothing'],
  ];
  return [
    bold(page.url),
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(10)}${value}`),
  ].join('\n');
};

const unsettled = async (reader: Reader, url: string, site: string): Promise<{ says: string; isKnown: boolean }> => {
  const view = await reader.site(site);
  if (!view) return { says: `${url} is not known; its site ${site} neither`, isKnown: false };
  if (view.leased === url) return { says: `${url} is being visited, or was when the crawl ended`, isKnown: true };
  if (!(await reader.isWaiting(url, site)))
    return {
      says: `${url} is not known; its site ${site} is, with ${view.pages} pages and ${view.waiting} links`,
      isKnown: false,
    };
  const when =
    view.dueAt > Date.now() ? `may be called in ${writeDuration(view.dueAt - Date.now())}` : 'may be called now';
  return {
    says: `${url} is ${view.state === 'leased' ? 'waiting' : view.state}; its site ${site} has ${view.waiting} links and ${when}`,
    isKnown: true,
  };
};

const archived = (dir: string, place: Place, what: 'text' | 'html' | 'headers'): string => {
  switch (what) {
    case 'text':
      return readArchived(dir, place, 'text').replace(/.$/s, '$&\n');
    case 'html':
      return readArchived(dir, place, 'html');
    case 'headers':
      return readArchived(dir, place, 'answerHead') + readArchived(dir, place, 'requestHead');
    default:
      return what satisfies never;
  }
};
