/** Curios in statuses: redirects, errors, and the traps that lead ever deeper. */

import type { Curio, Place } from './curio.ts';
import { curio, curioPage } from './curio.ts';
import type { HrefLink, Sheet } from './sheet.ts';
import { anchor, redirectTo } from './sheet.ts';

const failed = (place: Place, status: number, title: string): Sheet => ({ ...curioPage(place, title), status });

/** Steps of a chain: `/0` ... `/steps`, the last of which is a page. */
const chain = (name: string, about: string, steps: number): Curio =>
  curio(name, about, (place, rest) => {
    if (rest === '') return redirectTo(`${place.home}/1`);
    const step = Number(/^\/([1-9]\d?)$/.exec(rest)?.[1] ?? 0);
    if (step === 0 || step > steps) return null;
    return step === steps ? curioPage(place, `The end of ${about}`) : redirectTo(`${place.home}/${step + 1}`);
  });

export const MOVE_CURIOS: readonly Curio[] = [
  curio('moved', 'a redirect within the site', (place, rest) => {
    if (rest === '') return redirectTo(`${place.home}/new`, 'moved/new');
    return rest === '/new' ? curioPage(place, 'Moved here') : null;
  }),
  curio('moved-away', 'a redirect to another site', (place, rest) => (rest === '' ? redirectTo(place.away) : null)),
  curio('see-other', 'a 303 with a fragment', (place, rest) => {
    if (rest === '') return { ...redirectTo(`${place.home}/other`, `${place.home}/other#there`), status: 303 };
    return rest === '/other' ? curioPage(place, 'Seen other') : null;
  }),
  curio('moved-utf8', 'a redirect whose address is written in raw UTF-8', (place, rest) => {
    // The head of a response is sent byte by byte, one for each character.
    if (rest === '') return redirectTo(`${place.home}/caf%C3%A9`, Buffer.from(`${place.home}/café`).toString('latin1'));
    return rest === '/caf%C3%A9' ? curioPage(place, 'Moved to the cafe') : null;
  }),
  curio('moved-twice', 'a redirect that says twice where it leads', (place, rest) => {
    const to = `${place.home}/new`;
    if (rest === '') return { ...redirectTo(to), headers: { location: to, Location: to } };
    return rest === '/new' ? curioPage(place, 'Moved here, said twice') : null;
  }),
  chain('chain', 'a chain of five redirects', 5),
  chain('chain-long', 'a chain of nine redirects, too long to follow', 9),
  curio('loop', 'two redirects that lead to each other', (place, rest) => {
    if (rest === '') return redirectTo(`${place.home}/back`);
    return rest === '/back' ? redirectTo(place.home) : null;
  }),
  curio('self-loop', 'a redirect to itself', (place, rest) => (rest === '' ? redirectTo(place.home) : null)),
  curio('not-found', 'a link to nothing', (place, rest) => (rest === '' ? failed(place, 404, 'Not found') : null)),
  curio('gone', 'a page that is gone', (place, rest) => (rest === '' ? failed(place, 410, 'Gone') : null)),
];

/** A crawler cuts a path whose segment is repeated four times; up to two it must not. */
const REPEATS_SURE = 2;
const REPEATS_MAX = 8;
/** It cuts paths of more than 20 segments, and URLs of more than 2,000 characters. */
const SEGMENTS_SURE = 15;
const SEGMENTS_MAX = 30;
const LENGTH_SURE = 1_200;
const LENGTH_MAX = 2_200;
const MONTHS = 12;

/** How sure it is that a crawl follows a trap this far. */
const judged = (link: HrefLink, far: number, bounds: readonly [sure: number, most: number]): HrefLink => ({
  ...link,
  follow: far <= bounds[0] ? 'yes' : far <= bounds[1] ? 'maybe' : 'no',
});

export const TRAP_CURIOS: readonly Curio[] = [
  curio('again', 'a relative link that makes its own path longer for ever', (place, rest) => {
    if (!/^(\/round)*(\/|)$/.test(rest)) return null;
    const turns = rest.split('/round').length - 1;
    const next = `${place.home}${'/round'.repeat(turns + 1)}/`;
    const written = turns === 0 ? `${place.home}/round/` : 'round/';
    return curioPage(place, `Round ${turns}`, {
      links: [judged(anchor(next, 'round again', written), turns + 1, [REPEATS_SURE, REPEATS_MAX])],
    });
  }),
  curio('maze', 'a path with ever new segments', (place, rest) => {
    if (rest !== '' && !/^(\/room-\d+)+$/.test(rest)) return null;
    const depth = rest.split('/').length; // with the two segments of the home, less one
    const next = `${place.home}${rest}/room-${depth}`;
    return curioPage(place, `Room ${depth - 1}`, {
      links: [judged(anchor(next, 'onwards'), depth + 2, [SEGMENTS_SURE, SEGMENTS_MAX])],
    });
  }),
  curio('long', 'a query that doubles for ever', (place, rest) => {
    const letters = rest === '' ? 50 : (/^\?q=(a+)$/.exec(rest)?.[1] ?? '').length;
    if (letters === 0 || letters > LENGTH_MAX * 2) return null;
    const next = `${place.home}?q=${'a'.repeat(letters * 2)}`;
    return curioPage(place, `A query of ${letters}`, {
      links: [judged(anchor(next, 'longer'), next.length, [LENGTH_SURE, LENGTH_MAX])],
    });
  }),
  curio('calendar', 'a year of months, each linked from the one before', (place, rest) => {
    const month = rest === '' ? 0 : Number(/^\?month=(\d{1,3})$/.exec(rest)?.[1] ?? -1);
    if (month < 0 || month > MONTHS) return null;
    const links = month < MONTHS ? [anchor(`${place.home}?month=${month + 1}`, 'next month')] : [];
    return curioPage(place, `Month ${month}`, { links });
  }),
];

const page =
  (make: (place: Place) => Sheet): Curio['sheet'] =>
  (place, rest) =>
    rest === '' ? make(place) : null;
const RETRY_AFTER = { 'retry-after': '1' };

/** Each costs its site some standing with a crawler, so a site carries one of these at the most. */
export const TROUBLE_CURIOS: readonly Curio[] = [
  curio(
    'error-500',
    'answers 500 for ever',
    page((place) => ({ ...failed(place, 500, 'Broken'), failing: true })),
  ),
  curio(
    'busy-503',
    '503 with Retry-After: 1 at first, then a page',
    page((place) => ({ ...curioPage(place, 'No longer busy'), once: { status: 503, headers: RETRY_AFTER } })),
  ),
  curio(
    'slow-page',
    'takes `slowMs` to begin',
    page((place) => ({ ...curioPage(place, 'Slow'), delivery: 'slow' })),
  ),
  curio(
    'truncated',
    'closes half-way through its content-length',
    page((place) => ({ ...curioPage(place, 'Half of it'), failing: true, delivery: 'truncate' })),
  ),
  curio(
    'busy-429',
    '429 with Retry-After: 1 at first, then a page',
    page((place) => ({ ...curioPage(place, 'No longer too many'), once: { status: 429, headers: RETRY_AFTER } })),
  ),
  curio(
    'drip',
    'a body that comes in drops over `slowMs`',
    page((place) => ({ ...curioPage(place, 'Drop by drop'), delivery: 'drip' })),
  ),
  curio(
    'reset',
    'the connection is reset instead of a response',
    page((place) => ({ ...curioPage(place, 'Never seen'), failing: true, delivery: 'reset' })),
  ),
  curio(
    'not-http',
    'bytes that are not HTTP',
    page((place) => ({ ...curioPage(place, 'Never seen'), failing: true, delivery: 'garbage' })),
  ),
];
