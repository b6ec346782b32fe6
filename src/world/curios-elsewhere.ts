/** Curios in where links stand, other than in an ordinary anchor: refreshes and frames. */

import type { Curio } from './curio.ts';
import { curio, curioPage, pageWithLeaves, path } from './curio.ts';
import { decoy, marked, sheetOf } from './sheet.ts';

export const ELSEWHERE_CURIOS: readonly Curio[] = [
  pageWithLeaves('meta-refresh', 'meta elements that refresh, in some of their spellings', (_, leaf) => ({
    head: `<meta http-equiv="refresh" content="300; url=${path(leaf)}-1">`,
    links: [
      marked(`${leaf}-1`, 'see the head of this page'),
      marked(`${leaf}-2`, `<META CONTENT="0.5 , URL = '${path(leaf)}-2' or so" HTTP-EQUIV=Refresh>`),
      marked(`${leaf}-3`, `<noscript><meta http-equiv="refresh" content="0;${path(leaf)}-3"></noscript>`),
      decoy(`${leaf}-4`, `<meta http-equiv="refresh" content="url=${path(leaf)}-4">`),
      decoy(`${leaf}-5`, `<meta name="refresh" content="0; url=${path(leaf)}-5">`),
    ],
  })),
  pageWithLeaves('refresh-header', 'a Refresh header', (_, leaf) => ({
    headers: { refresh: `300; url=${path(leaf)}` },
    links: [marked(leaf, 'see the head of this response')],
  })),
  pageWithLeaves('iframe', 'a page in a frame of another', (_, leaf) => ({
    links: [
      marked(leaf, `<iframe src="${path(leaf)}"><a href="${path(leaf)}-inside">no frames here</a></iframe>`),
      decoy(`${leaf}-inside`, ''),
      decoy(`${leaf}-doc`, `<iframe srcdoc="<a href='${path(leaf)}-doc'>x</a>"></iframe>`),
    ],
  })),
  pageWithLeaves('noframes', 'a link inside noframes, on a page with a body', (_, leaf) => ({
    links: [
      marked(leaf, `<noframes><p><a href="${path(leaf)}">without frames</a></noframes>`),
      decoy(`${leaf}-no`, `<noframes><!-- <a href="${path(leaf)}-no">x</a> --></noframes>`),
    ],
  })),
  curio('frameset', 'a frameset in a frameset, with a noframes', (place, rest) => {
    const leaf = `${place.home}/leaf`;
    const links = [
      marked(`${leaf}-1`, `<frame src="${path(leaf)}-1">`),
      marked(`${leaf}-2`, `<frameset rows="*,*"><frame name="x" src='${path(leaf)}-2'></frameset>`),
      marked(`${leaf}-3`, `<noframes><body>Use <a href="${path(leaf)}-3">the plain version</a>.</body></noframes>`),
      decoy(`${leaf}-4`, `</frameset><frame src="${path(leaf)}-4">`),
    ];
    if (links.some(({ to }) => to === place.home + rest)) return curioPage(place, 'A leaf in a frame');
    if (rest !== '') return null;
    const body = `<title>Frames</title><frameset cols="20%,*">\n${links.map(({ markup }) => `${markup}\n`).join('')}`;
    return sheetOf({ headers: { 'content-type': 'text/html' }, links, body: () => Buffer.from(body) });
  }),
];
