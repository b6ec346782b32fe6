/**
 * Planted bugs. Each is a change to the sources that the simulation must notice; a mutant that no longer
 * fits its source fails its test, so none can go stale. To add one, add a row.
 */

import { MEMBER_MUTANTS } from './member-mutants.ts';
import type { FaultName } from './plan.ts';
import type { SharedKind } from './shared-place.ts';

export interface Mutant {
  readonly name: string;
  /** The fault that brings it to light; without one, the usual mixture. */
  readonly fault?: FaultName;
  /** The store that has it, if that is a server. */
  readonly store?: SharedKind;
  /** A seed that catches it, where the first ones do not: it is tried before all others. */
  readonly seed?: number;
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Below src/. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

const edit = (file: string, find: string, replace: string): Edit => ({ file, find, replace });

/** Matches the text however a formatter has laid it out: spaces, line breaks and commas before a closing bracket. */
const anyLayoutOf = (text: string): RegExp =>
  new RegExp(
    (text.match(/[\w$]+|[^\s\w$]/g) ?? [])
      .map((token) => `${/[)\]}]/.test(token) ? ',?\\s*' : ''}${RegExp.escape(token)}`)
      .join('\\s*'),
    'g',
  );

/** The source with the edit made; null where what it looks for does not occur exactly once. */
export const editSource = (source: string, { find, replace }: Edit): string | null => {
  const found = [...source.matchAll(anyLayoutOf(find))];
  if (found.length !== 1) return null;
  const at = found[0]!.index;
  return source.slice(0, at) + replace + source.slice(at + found[0]![0].length);
};

export const MUTANTS: readonly Mutant[] = [
  ...MEMBER_MUTANTS,
  {
    name: 'the bodies of a visit are not given back',
    edits: [edit('visit/visit.ts', '    for (const exchange of state.exchanges) parts.forget(exchange);\n', '')],
  },
  {
    name: 'the claim loop takes no heed of visits under way',
    edits: [edit('visit/claim-loop.ts', 'const free = gauges.slots - gauges.visits;', 'const free = gauges.slots;')],
  },
  {
    name: 'the page is settled before its links are admitted',
    fault: 'process-dies',
    edits: [
      edit(
        'visit/visit.ts',
        '  if (end.links && end.links.length > 0) await parts.admit(end.links);\n  await parts.settle(settlement);',
        '  await parts.settle(settlement);\n  if (end.links && end.links.length > 0) await parts.admit(end.links);',
      ),
    ],
  },
  {
    name: 'a stale lease is accepted',
    fault: 'store-slower-than-lease',
    edits: [
      edit(
        'store/memory/store.ts',
        'if (member && !(member.isInOrder() && member.book.isInForce(settlement.lease))) continue;\n    if (site?.lease?.id !== settlement.lease || site.lease.run !== run || accepted.has(site)) continue;\n    if (site.lease.until === null || site.lease.until > clock.now()) accepted.set(site, settlement);',
        'if (!site?.lease || run === "?" || accepted.has(site)) continue;\n    accepted.set(site, settlement);',
      ),
    ],
  },
  {
    name: 'a visit outlives its lease',
    fault: 'store-slower-than-lease',
    edits: [
      edit(
        'visit/deadline.ts',
        '  if (leaseUntil === null) return {',
        '  if (leaseUntil === null || leaseUntil > 0) return {',
      ),
    ],
  },
  {
    name: 'trouble of one origin counts for its site',
    edits: [edit('visit/visit.ts', '    parked: false,\n', '    parked: end.to?.parked ?? false,\n')],
  },
  {
    name: 'an origin in trouble is asked under a lease of its own',
    edits: [
      edit(
        'visit/visit.ts',
        '  const early = isSideQueue(leased.site)',
        '  const early = isSideQueue(leased.site) && leased.robots && waits(leased.robots, leased.claimedAt)',
      ),
    ],
  },
  {
    name: 'links of an origin that answers again stay where they are',
    edits: [
      edit(
        'visit/trouble.ts',
        'return { ...rest({ dueAt: claimedAt, failures: 0 }), to: toSite(false) };',
        'return rest({ dueAt: claimedAt + 60_000 });',
      ),
    ],
  },
  {
    name: 'the first page does not wait for the Crawl-delay that robots.txt has just named',
    edits: [
      edit('visit/visit.ts', '(state.learned.crawlDelayMs ?? 0) > 0', '(state.learned.crawlDelayMs ?? 0) > 1e12'),
    ],
  },
  {
    name: 'failures count though this machine is cut off',
    fault: 'machine-cut-off',
    edits: [edit('visit/reach.ts', '? { ...exchange, unsure: true } : exchange', '? exchange : exchange')],
  },
  {
    name: 'a link that is set aside is written into no queue',
    edits: [edit('store/sqlite/settle.ts', 'if (to) moveLink(session, to, untried(leasedLink(site)));', '')],
  },
  {
    name: 'the clock of a site moves at its settlement instead of its claim',
    edits: [
      edit(
        'store/memory/store.ts',
        'site.pace = { ...former, delayMs, dueAt: now + delayMs };',
        'site.pace = { ...former, delayMs };',
      ),
      edit('store/memory/store.ts', 'site.pace = { ...site.pace, dueAt: at + site.pace.delayMs };', ''),
    ],
  },
  {
    name: 'a freed site is visited at once',
    fault: 'process-dies',
    edits: [edit('store/sqlite/steer.ts', '  const dueAt = now + site.delay_ms;', '  const dueAt = now;')],
  },
  {
    name: 'admitting a link resets the clock of its site',
    edits: [
      edit(
        'store/sqlite/admit.ts',
        'UPDATE site SET waiting = waiting + ?,',
        'UPDATE site SET due_at = 0, waiting = waiting + ?,',
      ),
      edit(
        'store/sqlite/session.ts',
        'notBefore[shard] = Math.min(notBefore[shard]!, dueAt);',
        'notBefore[shard] = 0;',
      ),
    ],
  },
  {
    name: 'the look whether a link is new is apart from taking it in',
    seed: 24,
    edits: [
      edit(
        'store/sqlite/admit.ts',
        'if (session.provisional.has(print) || session.seen.has(print)) continue;',
        'if (session.seen.has(print)) continue;',
      ),
    ],
  },
  {
    name: 'a fingerprint is kept though its commit failed',
    fault: 'disk-full',
    edits: [
      edit(
        'store/sqlite/admit.ts',
        '    session.provisional.add(print);',
        '    session.provisional.add(print);\n    session.seen.add(print);',
      ),
    ],
  },
  {
    name: 'a redirect is followed without asking',
    edits: [
      edit(
        'visit/visit.ts',
        '  const parsed = await parts.parse({ lease: state.visit.lease, robots: state.robotsResponses, page: exchange,',
        '  if (target) await parts.fetch({ url: target.url, bodyBytesMax: 1, wantsBody: () => true, keepMs: 0 }, state.signal);\n  const parsed = await parts.parse({ lease: state.visit.lease, robots: state.robotsResponses, page: exchange,',
      ),
    ],
  },
  {
    name: 'the tail of the archive is not cut',
    fault: 'process-dies-in-commit',
    edits: [edit('store/memory/store.ts', '  archive.cut(state.end);', '')],
  },
  {
    name: 'a retry forgets the delay',
    edits: [
      edit(
        'politeness/pace.ts',
        'const dueAt = Math.ceil(event.at) + Math.ceil(waitMs);',
        'const dueAt = Math.ceil(event.at) + 0 * waitMs;',
      ),
    ],
  },
  {
    name: 'a page that kills its parser is tried for ever',
    fault: 'none',
    edits: [
      edit(
        'visit/visit.ts',
        "  if (tries < TRIES_MAX) return { fate: 'retry', event };\n  return { fate: 'settled', event, page: unansweredPage({ link, tries, outcome: 'parse-failed'",
        "  if (tries > 0) return { fate: 'retry', event };\n  return { fate: 'settled', event, page: unansweredPage({ link, tries, outcome: 'parse-failed'",
      ),
    ],
  },
  {
    name: 'a page that kills its fetch thread is tried for ever',
    fault: 'none',
    edits: [
      edit(
        'store/sqlite/steer.ts',
        '  const givenUp = claims >= CLAIMS_MAX;',
        '  const givenUp = claims >= Infinity && CLAIMS_MAX > 0;',
      ),
    ],
  },
  {
    name: 'a site under visit is handed out again',
    edits: [
      edit(
        'store/sqlite/sql/lease.sql',
        'UPDATE site SET state = 1, waiting = waiting - 1',
        'UPDATE site SET state = 0, waiting = waiting - 1',
      ),
    ],
  },
  {
    name: 'a robots.txt that answers 5xx allows everything',
    edits: [
      edit(
        'politeness/robots.ts',
        "  if (status >= 400 && status < 500 && status !== 429) return 'allow';",
        "  if (status >= 400) return 'allow';",
      ),
    ],
  },
  {
    name: 'the target of a redirect is forgotten',
    edits: [
      edit('visit/visit.ts', 'const links = target?.link ? [target.link] :', 'const links = target?.link ? [] :'),
    ],
  },
  {
    name: 'a batch is answered before it is committed',
    fault: 'store-fails-before',
    edits: [
      edit(
        'lib/group.ts',
        '        await commit(batch.flatMap(({ items }) => items));',
        '        void commit(batch.flatMap(({ items }) => items)).catch(() => {});',
      ),
    ],
  },
  {
    name: 'a crawl counts as finished while visits are under way',
    seed: 10,
    edits: [edit('visit/finished.ts', '=> waiting === 0 && leased === 0;', '=> waiting === 0 && leased >= 0;')],
  },
  {
    name: 'after a failed transaction a site is believed not to be due',
    fault: 'disk-full',
    edits: [
      edit(
        'store/sqlite/session.ts',
        '    session.notBefore.fill(-Infinity);\n    if (session.db.isTransaction)',
        '    session.notBefore.fill(Infinity);\n    if (session.db.isTransaction)',
      ),
    ],
  },
  {
    name: 'Retry-After is ignored',
    edits: [edit('politeness/pace.ts', 'Math.min(event.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS),', '')],
  },
  {
    name: 'the Crawl-delay is ignored',
    edits: [
      edit(
        'politeness/pace.ts',
        'Math.max(settings.delayMs, Math.min(crawlDelayMs, CRAWL_DELAY_MAX_MS), forItsSpeed)',
        'Math.max(settings.delayMs, Math.min(crawlDelayMs, 0), forItsSpeed)',
      ),
    ],
  },
  {
    name: 'a link that is given back is put into no queue: it is lost',
    edits: [
      edit('store/sqlite/settle.ts', 'else putFirst(session, site, [untried(leasedLink(site))]);', 'else back = 0;'),
    ],
  },
  {
    name: 'what is forbidden by robots.txt is fetched',
    edits: [edit('visit/visit.ts', '  if (!allowed) return', "  if (!allowed && rule === '') return")],
  },
  {
    name: 'long rules are stored in part: what the rest forbids is fetched after a restart',
    edits: [
      edit('store/sqlite/robots.ts', 'run(long.digest, long.text)', 'run(long.digest, long.text.slice(0, 4_096))'),
    ],
  },
  {
    name: 'who stood still past its lease goes on as if it had it',
    seed: 12,
    fault: 'process-stands-still',
    edits: [
      edit('visit/deadline.ts', '    if (clock.now() >= until) over.abort();\n', ''),
      edit(
        'visit/deadline.ts',
        '    if (pulse && term !== undefined && !pulse.mayRequest(term)) await',
        '    if (false) await',
      ),
      edit('visit/deadline.ts', '=> clock.now() < until && (pulse &&', '=> until < 0 || (pulse && term === -1 &&'),
    ],
  },
  {
    name: 'Redis accepts a stale lease',
    fault: 'store-slower-than-lease',
    store: 'redis',
    edits: [edit('store/redis/lua/settle.lua', 'l.id ~= t[2] or (l.ends and l.ends <= now)', 'false')],
  },
  {
    name: 'Redis lets a freed site be visited at once',
    seed: 6,
    fault: 'process-dies',
    store: 'redis',
    edits: [
      edit('store/redis/lua/parts/free.lua', 'local dueAt = num(how.at + tonumber(s[2]))', 'local dueAt = num(how.at)'),
    ],
  },
  {
    name: 'Redis settles a batch again whose answer was lost',
    fault: 'connection-lost',
    store: 'redis',
    edits: [
      edit('store/redis/lua/settle.lua', 'elseif last.number < number then', 'elseif last.number <= number then'),
    ],
  },
  {
    name: 'rows that Redis never settled stay when their process has died',
    fault: 'process-dies-in-commit',
    store: 'redis',
    edits: [edit('store/redis/store.ts', 'if (unsettled) withdraw(', 'if (unsettled && false) withdraw(')],
  },
  {
    name: 'PostgreSQL accepts a stale lease',
    fault: 'store-slower-than-lease',
    store: 'postgres',
    edits: [
      edit('store/postgres/sql/settle.sql', ' AND k.lease = u.lease AND (k.until IS NULL OR k.until > now_at)', ''),
    ],
  },
  {
    name: 'PostgreSQL lets a freed site be visited at once',
    seed: 6,
    fault: 'process-dies',
    store: 'postgres',
    edits: [
      edit(
        'store/postgres/sql/free.sql',
        'due_at = coalesce(_at, k.until) + k.delay_ms',
        'due_at = coalesce(_at, k.until)',
      ),
    ],
  },
  {
    name: 'PostgreSQL settles a batch again whose answer was lost',
    fault: 'connection-lost',
    store: 'postgres',
    edits: [edit('store/postgres/sql/settle.sql', 'IF me.batch >= _batch THEN shut := false; RETURN; END IF;', '')],
  },
];
