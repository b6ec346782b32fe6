/** Curios in how links are written. */

import type { Curio } from './curio.ts';
import { curio, curioPage, pageWithLeaves, path } from './curio.ts';
import { SPELLINGS } from './articles.ts';
import { anchor, decoy, marked, textSheet } from './sheet.ts';

const PIXEL = Buffer.from('89504e470d0a1a0a', 'hex');

export const LINK_CURIOS: readonly Curio[] = [
  pageWithLeaves('base-href', 'links against a base element', ({ home }) => ({
    head: `<base href="${path(home)}/deep/er/">`,
    links: [
      marked(`${home}/deep/er/leaf`, '<a href="leaf">relative</a>'),
      marked(`${home}/deep/up`, '<a href="../up">up</a>'),
    ],
  })),
  pageWithLeaves('entities', 'entities in an address', ({ home }) => ({
    links: [
      marked(`${home}/leaf?a=1&b=2`, `<a href="${path(home)}/leaf?a=1&amp;b=2">amp</a>`),
      marked(`${home}/leaf-x`, `<a href="${path(home)}&#x2F;leaf&#45;x">numbers</a>`),
    ],
  })),
  pageWithLeaves('spellings', 'one address in seven spellings', ({ home }) => ({
    links: SPELLINGS.map((spell) => marked(`${home}/leaf`, `<a href="${spell(new URL(`${home}/leaf`))}">again</a>`)),
  })),
  pageWithLeaves('markup', 'attributes unquoted, single-quoted, in capitals, late', (_, leaf) => ({
    links: [
      marked(`${leaf}-1`, `<A HREF=${path(leaf)}-1>bare</A>`),
      marked(`${leaf}-2`, `<a class='x' title="a > b" href='${path(leaf)}-2'>single</a>`),
      marked(`${leaf}-3`, `<a\n  href = "${path(leaf)}-3"\n>spaced</a>`),
    ],
  })),
  pageWithLeaves('spaces', 'spaces and line ends around and in an address', (_, leaf) => ({
    links: [
      marked(`${leaf}-1`, `<a href="  ${path(leaf)}-1 \n">around</a>`),
      marked(`${leaf}-2`, `<a href="${path(leaf).replace('/leaf', '/le\naf')}-2">line end inside</a>`),
      marked(`${leaf}%20three`, `<a href="${path(leaf)} three">space inside</a>`),
    ],
  })),
  pageWithLeaves('unicode-path', 'a path that is not ASCII', (_, leaf) => ({
    links: [marked(`${leaf}-caf%C3%A9`, `<a href="${path(leaf)}-caf&eacute;">caf&eacute;</a>`)],
  })),
  pageWithLeaves('queries', 'queries whose order and case matter, and a slash that does', (_, leaf) => ({
    links: ['?a=1&b=2', '?b=2&a=1', '?A=1&b=2', '', '/'].map((tail) => anchor(leaf + tail, `a leaf with "${tail}"`)),
  })),
  pageWithLeaves('noscript', 'a link inside noscript', (_, leaf) => ({
    links: [marked(leaf, `<noscript><a href="${path(leaf)}">without scripts</a></noscript>`)],
  })),
  pageWithLeaves('area', 'a link in an image map', (_, leaf) => ({
    links: [marked(leaf, `<map name="m"><area shape="default" href="${path(leaf)}" alt="map"></map>`)],
  })),
  pageWithLeaves('rel-next', 'a link element with rel=next', (_, leaf) => ({
    head: `<link rel="next" href="${path(leaf)}">`,
    links: [marked(leaf, 'see the head of this page')],
  })),
  pageWithLeaves('decoys', 'what looks like links: comments, scripts, other schemes, images', ({ home }) => ({
    head: `<script>document.title += '<a href="${path(home)}/in-script">x</a>'</script><link rel="stylesheet" href="${path(home)}/style.css">`,
    links: [
      decoy(`${home}/in-comment`, `<!-- <a href="${path(home)}/in-comment">x</a> -->`),
      decoy(`${home}/in-script`, `<script type="text/template"><a href="${path(home)}/in-script">x</a></script>`),
      decoy(`${home}/in-style`, `<style>/* <a href="${path(home)}/in-style"> */</style>`),
      decoy(`${home}/in-textarea`, `<textarea><a href="${path(home)}/in-textarea">x</a></textarea>`),
      decoy('', '<a href="mailto:someone@example.org">mail</a>'),
      decoy('', '<a href="javascript:void(0)">script</a>'),
      decoy('', '<a href="tel:+123">call</a>'),
      decoy('', '<a href="http://[half">broken</a>'),
      decoy(`${home}/pixel`, `<img src="${path(home)}/pixel" alt="">`),
      decoy(`${home}/form`, `<form action="${path(home)}/form"><button>go</button></form>`),
    ],
  })),
  pageWithLeaves('rel-nofollow', 'links with rel=nofollow', (_, leaf) => ({
    links: [
      decoy(`${leaf}-1`, `<a rel="nofollow" href="${path(leaf)}-1">no</a>`),
      decoy(`${leaf}-2`, `<a href="${path(leaf)}-2" rel="noopener NOFOLLOW ugc">no</a>`),
      anchor(`${leaf}-3`, 'yes'),
    ],
  })),
  pageWithLeaves('meta-nofollow', 'meta robots nofollow', (_, leaf) => ({
    head: '<meta name="robots" content="nofollow">',
    links: [decoy(leaf, `<a href="${path(leaf)}">no</a>`)],
  })),
  pageWithLeaves('header-nofollow', 'X-Robots-Tag nofollow', (_, leaf) => ({
    headers: { 'x-robots-tag': 'noindex, nofollow' },
    links: [decoy(leaf, `<a href="${path(leaf)}">no</a>`)],
  })),
  pageWithLeaves('meta-for-others', 'meta nofollow for another robot', (_, leaf) => ({
    head: '<meta name="otherbot" content="nofollow">',
    links: [anchor(leaf, 'yes')],
  })),
  pageWithLeaves('noindex', 'meta noindex, which forbids no link', (_, leaf) => ({
    head: '<meta name="ROBOTS" content="NOINDEX">',
    links: [anchor(leaf, 'yes')],
  })),
  pageWithLeaves('programs', 'programs with a query, which answer with pages', ({ home }) => ({
    links: [anchor(`${home}/shop.dll?item=7`, 'an item'), anchor(`${home}/find.exe?q=a`, 'a search')],
  })),
  pageWithLeaves('endless-host', 'addresses with hosts of thousands of letters, and a leaf after them', (_, leaf) => ({
    links: [
      decoy('', `<a href="http://${'&uuml;'.repeat(4_000)}/">other letters</a>`),
      decoy('', `<a href="https://${'long.'.repeat(900)}example/">labels</a>`),
      anchor(leaf, 'a leaf'),
    ],
  })),
  curio('files', 'files whose ending tells that they are not text', ({ home, ...place }, rest) => {
    const names = ['picture.png', 'photo.JPG', 'film.mp4', 'archive.zip', 'shop.dll', 'photo.jpg?w=200'];
    const files = names.map((name) => `${home}/${name}`);
    const links = files.map((to) => decoy(to, `<a href="${to}">a file</a>`));
    if (rest === '') return curioPage({ home, ...place }, 'Files to look at', { links });
    return files.includes(home + rest) ? textSheet('application/octet-stream', () => PIXEL) : null;
  }),
];
