/** Malformed pages without end, the same for the same seed. */

export type Chance = (below: number) => number;

/** A small generator of numbers (mulberry32): a failing page can be made again from its seed. */
export const createChance = (seed: number): Chance => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

const pick = <T>(chance: Chance, list: readonly T[]): T => list[chance(list.length)] as T;

/** Pieces of markup with what is hard about HTML in them; `~` becomes a number, so that links differ. */
const PIECES = [
  '<a href="/p~">',
  "<a href='/q~' rel=nofollow>",
  '<a href=/r~>',
  '<A HREF="/s~" href="/t~">',
  '</a>',
  '<a name=x~>',
  '<area href="/u~">',
  '<area href="/v~" />',
  '<link rel=next href="/w~">',
  '<link rel="Canonical x" href=/c~>',
  '<link rel=alternate type="application/rss+xml" href="/rss~">',
  '<link rel=alternate href="/no~">',
  '<base href="/b~/">',
  '<title>T~ &amp; <a href="/no~"></title>',
  '<title>',
  '</title>',
  '<p>',
  '</p>',
  '<div>',
  '</div>',
  '<span>',
  '</span>',
  '<b>',
  '</b>',
  '<i>',
  '</i>',
  '<ul>',
  '<li>',
  '</ul>',
  '<table>',
  '<tr>',
  '<td>',
  '</td>',
  '</table>',
  '<script>',
  '</script>',
  '<script>"<a href=/n~>"</script>',
  '<!--<script>',
  '<style>',
  '</style >',
  '<textarea>',
  '</textarea>',
  '<xmp>',
  '</xmp>',
  '<noscript>',
  '</noscript>',
  '<noembed>',
  '</noembed>',
  '<iframe>',
  '<iframe src="/if~"><a href=/no~></iframe>',
  '<meta http-equiv=Refresh content="~;url=/mr~">',
  '<meta http-equiv=refresh content="/no~">',
  '</iframe>',
  '<!--',
  '-->',
  '--!>',
  '<!-->',
  '<!--->',
  '<!-- <a href="/k~"> -->',
  '<!doctype html>',
  '<?php "?>',
  '<!x>',
  '</>',
  '</ x>',
  'text ',
  ' ',
  '\n',
  '&amp;',
  '&copy',
  '&#x41;',
  '<',
  '>',
  '"',
  "'",
  '=',
  '/',
  '< a href="/no~">',
  '<a\thref\n=\n"/z~"\n>',
  '<a href="/e?a=~&copy=1&amp;b&lt">',
  '<a href="/open~',
  "<a href='/open~",
  '<a href=/bare~"x',
  '<a href>',
  '<a =href=/f~>',
  '<a/href="/g~"/>',
  '<a href="/h~"class=x href=/no>',
  '<a href="\n /y~ \t">',
  '<br>',
  '<br/>',
  '</br>',
  '<img src=x>',
  '<hr>',
  '<pre>',
  '</pre>',
  '<h1>',
  '</h1>',
  '<form>',
  '</form>',
  '<button>',
  '</button>',
  '<html lang=l~>',
  '<head>',
  '</head>',
  '<body>',
  '</body>',
  '</html>',
  '<center>',
  '<font color=red>',
  '</font>',
  '<object>',
  '</object>',
  '<nobr>',
  '<input>',
];

/** Pieces in which the rules change: rarer, because each swallows or changes much of what follows. */
const RARE_PIECES = [
  '<svg>',
  '</svg>',
  '<svg/>',
  '<svg><a xlink:href="/sx~" />',
  '<svg><title><a href="/st~"></title>',
  '<math>',
  '</math>',
  '<mi>',
  '</mi>',
  '<annotation-xml encoding="text/html">',
  '<foreignObject>',
  '</foreignObject>',
  '<desc>',
  '<g>',
  '</g>',
  '<![CDATA[ <a href="/cd~"> ]]>',
  '<svg><style><a href="/ss~"></style>',
  '<template>',
  '</template>',
  '<template><a href="/in~"></template>',
  '<frameset>',
  '</frameset>',
  '<frame src=/fr~>',
  '<frameset><frame src="/fs~">',
  '<noframes><!-- <a href="/nc~"></noframes>',
  '<noframes><a href=/nf~></noframes>',
  '<noframes>',
  '<plaintext>',
  '<select>',
  '</select>',
  '<option>',
  '<input type=hidden>',
];

/** A page of random pieces. */
export const piecedPage = (chance: Chance, rare: number): string => {
  const count = 1 + chance(40);
  let page = '';
  for (let i = 0; i < count; i += 1) {
    const piece = pick(chance, chance(100) < rare ? RARE_PIECES : PIECES);
    page += piece.replaceAll('~', String(chance(1_000)));
  }
  return page;
};

/** A good page with a few wounds: cut short, parts lost, doubled, moved, characters changed. */
export const woundedPage = (chance: Chance, page: string): string => {
  let wounded = page;
  const wounds = 1 + chance(6);
  for (let i = 0; i < wounds; i += 1) {
    const from = chance(wounded.length + 1);
    const to = Math.min(wounded.length, from + chance(60));
    const before = wounded.slice(0, from);
    const part = wounded.slice(from, to);
    const after = wounded.slice(to);
    switch (chance(6)) {
      case 0:
        wounded = before + after;
        break;
      case 1:
        wounded = before + part + part + after;
        break;
      case 2:
        wounded = after + part + before;
        break;
      case 3:
        wounded = before + pick(chance, ['<', '>', '"', "'", '=', '&', '-', '/', ' ', '\0', '\n']) + part + after;
        break;
      case 4:
        wounded = before + pick(chance, PIECES) + part + after;
        break;
      case 5:
        wounded = chance(4) === 0 ? before : before + part.split('').reverse().join('') + after;
        break;
    }
  }
  return wounded;
};
