/** Lays broken lines anew, and brings links of blocks that are in no line back into one. */

import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import { urlKey } from '../page-row.ts';
import { eachRow, type Checked } from './check.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import { appendToLine, type LineEnds } from './line.ts';
import { createVisited, linksFrom, walkLine, type NumberSet, type SiteEnds, type Visited } from './line-walk.ts';

interface Site extends SiteEnds {
  readonly leased: string | null;
}

const SITE_SQL = 'SELECT id, name, leased, line, head_at FROM site';

export const mendLines = (
  checked: Checked,
  broken: ReadonlySet<number>,
): { linesMended: number; linksAdopted: number } => {
  const owned = createVisited();
  const sites = checked.sql(`${SITE_SQL} ORDER BY id`).iterate() as Iterable<unknown> as Iterable<Site>;
  for (const site of sites) if (!broken.has(site.id)) walkLine({ sql: checked.sql, site, visited: owned }, () => {});
  let linesMended = 0;
  for (const id of broken) {
    const site = checked.sql(`${SITE_SQL} WHERE id = ?`).get(id) as Site | undefined;
    if (!site) continue;
    layAnew(checked, site, owned);
    linesMended++;
  }
  return { linesMended, linksAdopted: adoptOrphans(checked, owned) };
};

/** All links of the line up to its break that are in no other state, each once, in new blocks. */
const layAnew = (checked: Checked, site: Site, owned: Visited): void => {
  const met = { blocks: [] as number[], packs: [] as number[] };
  const noting = (of: keyof Visited): NumberSet => ({
    has: owned[of].has,
    add: (id) => {
      const isNew = owned[of].add(id);
      if (isNew) met[of].push(id);
      return isNew;
    },
  });
  const links: Waiting[] = [];
  walkLine(
    { sql: checked.sql, site, visited: { blocks: noting('blocks'), packs: noting('packs') } },
    (waiting) => void links.push(waiting),
  );
  for (const id of met.blocks) checked.sql('DELETE FROM block WHERE id = ?').run(id);
  for (const id of met.packs) checked.sql('DELETE FROM pack WHERE id = ?').run(id);
  const urls = new Set<string>();
  const kept = links.filter(({ link: { url } }) => !urls.has(url) && !isElsewhere(checked, site, url) && urls.add(url));
  const ends: LineEnds = { line: '', head_at: 0 };
  appendToLine(checked, ends, kept);
  writeEnds(checked, site.id, ends);
  // SQLite gives numbers of deleted blocks again, so a new block may have one that is in the set already.
  const noted = (set: NumberSet): NumberSet => ({ has: set.has, add: (id) => set.add(id) || true });
  walkLine(
    {
      sql: checked.sql,
      site: { ...site, ...ends },
      visited: { blocks: noted(owned.blocks), packs: noted(owned.packs) },
    },
    () => {},
  );
};

const writeEnds = ({ sql }: Checked, id: number, { line, head_at }: LineEnds): void =>
  void sql('UPDATE site SET line = ?, head_at = ? WHERE id = ?').run(line, head_at, id);

const adoptOrphans = (checked: Checked, owned: Visited): number => {
  const { sql } = checked;
  const ids = [...eachRow<[number]>(sql, 'SELECT id FROM block ORDER BY id')]
    .map(([id]) => id)
    .filter((id) => !owned.blocks.has(id));
  // A pack that no line has holds numbers only; its blocks are found by themselves.
  const packs = [...eachRow<[number]>(sql, 'SELECT id FROM pack ORDER BY id')]
    .map(([id]) => id)
    .filter((id) => !owned.packs.has(id));
  for (const id of packs) sql('DELETE FROM pack WHERE id = ?').run(id);
  let adopted = 0;
  for (const id of ids) {
    const block = sql('SELECT read_to, via, links FROM block WHERE id = ?').get(id) as {
      read_to: number;
      via: string;
      links: string;
    };
    sql('DELETE FROM block WHERE id = ?').run(id);
    for (const line of linesThatCanBeRead(block)) {
      const waiting = readWaiting(line, block.via, '');
      const site = siteNamedFor(checked, waiting.link.url);
      if (site === null || knowsLink(checked, site, waiting.link.url)) continue;
      const ends: LineEnds = { ...site };
      appendToLine(checked, ends, [waiting]);
      writeEnds(checked, site.id, ends);
      adopted++;
    }
  }
  return adopted;
};

/** A block that is damaged gives the links that are still whole. */
const linesThatCanBeRead = (block: { read_to: number; links: string }): string[] =>
  linksFrom(block, block.read_to) ??
  block.links.split('\n').filter((line) => linksFrom({ links: `${line}\n` }, 0) !== null);

/** The site that a URL belongs to, if the store has it. */
export const siteNamedFor = ({ sql }: Checked, url: string): Site | null => {
  const address = canonicalize(url);
  if (typeof address === 'string' || address.url !== url) return null;
  return (sql(`${SITE_SQL} WHERE name = ?`).get(siteOf(address.host)) as Site | undefined) ?? null;
};

/** Whether the link is in any state. */
export const knowsLink = (checked: Checked, site: Site, url: string): boolean => {
  if (isElsewhere(checked, site, url)) return true;
  let isInLine = false;
  walkLine({ sql: checked.sql, site, visited: createVisited() }, ({ link }) => void (isInLine ||= link.url === url));
  return isInLine;
};

/** Settled, or under visit. */
const isElsewhere = ({ sql }: Checked, { id, leased }: Site, url: string): boolean =>
  (leased !== null && (JSON.parse(leased) as Waiting).link.url === url) ||
  sql('SELECT 1 FROM page WHERE site = ? AND url_key = ? AND url = ?').get(id, urlKey(url), url) !== undefined;
