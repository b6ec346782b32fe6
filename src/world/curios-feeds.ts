/** Curios in feeds: each is named by a page, and lists leaves that nothing else links to. */

import type { Curio } from './curio.ts';
import { curio, curioPage, path } from './curio.ts';
import { anchor, decoy, escapeHtml, type HrefLink, marked, sheetOf } from './sheet.ts';

interface Feed {
  readonly about: string;
  /** As the page that names the feed calls it; empty where an ordinary anchor leads there. */
  readonly named: string;
  /** As the server calls it. */
  readonly type: string;
  readonly opening: string;
  /** Their markup is XML. */
  readonly links: (home: string) => readonly HrefLink[];
  readonly closing: string;
}

const feed = (name: string, { about, named, type, opening, links, closing }: Feed): Curio =>
  curio(name, about, (place, rest) => {
    const { home } = place;
    const address = `${home}/feed`;
    if (rest === '') {
      if (named === '') return curioPage(place, about, { links: [anchor(address, 'the feed')] });
      const head = `<link rel="alternate" type="${named}" href="${path(address)}">`;
      return curioPage(place, about, { head, links: [marked(address, 'see the head of this page')] });
    }
    const listed = links(home);
    if (rest === '/feed') {
      const text = `${opening}${listed.map(({ markup }) => `${markup}\n`).join('')}${closing}`;
      return sheetOf({ headers: { 'content-type': type }, links: listed, body: () => Buffer.from(text) });
    }
    return listed.some(({ to }) => to === home + rest) ? curioPage(place, `A leaf: ${about}`) : null;
  });

const RSS = '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>News</title>\n';
const item = (to: string): HrefLink => marked(to, `<item><title>A leaf</title><link>${escapeHtml(to)}</link></item>`);

export const FEED_CURIOS: readonly Curio[] = [
  feed('feed-rss', {
    about: 'a feed in RSS 2.0',
    named: 'application/rss+xml',
    type: 'application/rss+xml; charset=utf-8',
    opening: RSS,
    links: (home) => [
      item(`${home}/leaf-1?a=1&b=2`),
      marked(`${home}/leaf-2`, `<item><link><![CDATA[ ${home}/leaf-2 ]]></link></item>`),
      marked(`${home}/leaf-3`, `<item><guid>${home}/leaf-3</guid></item>`),
      decoy(`${home}/no-1`, `<item><guid isPermaLink="false">${home}/no-1</guid></item>`),
      decoy(`${home}/no-2`, `<item><enclosure url="${home}/no-2" type="audio/mpeg" length="1"/></item>`),
      decoy(`${home}/no-3`, `<item><description><![CDATA[<link>${home}/no-3</link>]]></description></item>`),
    ],
    closing: '</channel></rss>',
  }),
  feed('feed-atom', {
    about: 'a feed in Atom with a base, sent as XML of no kind',
    named: 'application/atom+xml',
    type: 'text/xml',
    opening: '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="feed/"><title>News</title>\n',
    links: (home) => [
      marked(`${home}/feed/leaf-1`, '<entry><link href="leaf-1"/></entry>'),
      marked(`${home}/leaf-2`, `<entry><link rel="alternate" type="text/html" href='${path(home)}/leaf-2'/></entry>`),
      decoy(`${home}/no-1`, `<entry><link rel="edit" href="${path(home)}/no-1"/></entry>`),
      decoy(`${home}/no-2`, `<entry><source><link href="${path(home)}/no-2"/></source></entry>`),
    ],
    closing: '</feed>',
  }),
  feed('feed-rdf', {
    about: 'a feed in RSS 1.0, which is RDF',
    named: 'application/rdf+xml',
    type: 'application/xml',
    opening:
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">' +
      '<channel><title>News</title></channel>\n',
    links: (home) => [item(`${home}/leaf`)],
    closing: '</rdf:RDF>',
  }),
  feed('feed-as-html', {
    about: 'a feed that calls itself HTML, linked as a page is',
    named: '',
    type: 'text/html',
    opening: RSS,
    links: (home) => [item(`${home}/leaf`)],
    closing: '</channel></rss>',
  }),
  feed('feed-broken', {
    about: 'a feed that ends in the middle of an address',
    named: 'application/rss+xml',
    type: 'application/rss+xml',
    opening: RSS,
    links: (home) => [item(`${home}/leaf`), decoy(`${home}/half`, '')],
    closing: '<item><link>half',
  }),
];
