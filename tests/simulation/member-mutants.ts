/** Planted bugs in what members of a shared crawl do for each other, and when their store goes back in time. */

import type { Mutant } from './mutants.ts';

const edit = (file: string, find: string, replace: string): Mutant['edits'][number] => ({ file, find, replace });

export const MEMBER_MUTANTS: readonly Mutant[] = [
  {
    name: 'requests leave though the store has not heard this process for seconds',
    seed: 3,
    fault: 'member-cut-off',
    edits: [
      edit('visit/pulse.ts', 'shared[AT.term] === term && silentMs() < SILENT_AFTER_MS', 'shared[AT.term] === term'),
    ],
  },
  {
    name: 'visits are not broken off when the store has not been heard for long',
    seed: 17,
    fault: 'member-cut-off',
    edits: [
      edit('visit/pulse.ts', 'shared[AT.term] !== term || silentMs() >= LAPSED_AFTER_MS', 'shared[AT.term] !== term'),
    ],
  },
  {
    name: 'a member is taken for dead before its visits have ended',
    seed: 15,
    fault: 'member-cut-off',
    edits: [edit('store/memory/member.ts', 'now - seenAt >= DEAD_AFTER_MS', 'now - seenAt >= 3_000')],
  },
  {
    name: 'the sites of a member that died wait until its leases end',
    seed: 3,
    fault: 'member-dies-for-good',
    edits: [edit('store/memory/member.ts', '    free((lease) => lease.member === name, true);\n', '')],
  },
  {
    name: 'after the store went back sites are visited by the clocks that it remembers',
    seed: 25,
    fault: 'store-goes-back',
    edits: [edit('store/memory/member.ts', '  state.floor = now;\n', '')],
  },
  {
    name: 'a store that went back is not shut',
    fault: 'store-goes-back',
    edits: [
      edit(
        'store/memory/member.ts',
        '!isLapsed && !record().isFreed && inOrderOn === server() && state.server === server()',
        '!record().isFreed',
      ),
    ],
  },
  {
    name: 'a store that went back is opened before all members have ended their visits',
    seed: 10,
    fault: 'store-goes-back',
    edits: [
      edit(
        'store/memory/member.ts',
        '  if (state.server === server || now - state.shut.at < DEAD_AFTER_MS) return;\n  if (state.members.values().some((one) => !isDead(one, now) && one.server !== server)) return;\n',
        '  if (state.server === server) return;\n',
      ),
    ],
  },
  {
    name: 'links that the store forgot are not sent again',
    seed: 10,
    fault: 'store-goes-back',
    edits: [edit('store/memory/member.ts', '      for (const batch of lately.batches()) parts.admit(batch);\n', '')],
  },
  {
    name: 'URLs are taken for known that the store forgot',
    fault: 'store-goes-back',
    edits: [edit('visit/crew.ts', 'forgetKnown: recent.clear', 'forgetKnown: () => {}')],
  },
  {
    name: 'records of settlements that the store forgot are not listed',
    fault: 'store-goes-back',
    edits: [edit('store/memory/member.ts', '      if (records) options.dead([records]);\n', '')],
  },
  {
    name: 'a lease of an earlier term is settled, under a number that the store gave again after it went back',
    seed: 8,
    fault: 'store-goes-back',
    edits: [
      edit('store/memory/store.ts', 'member?.book.take(1) ?? ++state.leaseLast', '100 * site.pages + head.tries'),
      edit(
        'store/memory/store.ts',
        'if (member && !(member.isInOrder() && member.book.isInForce(settlement.lease))) continue;\n    if (site?.lease?.id !== settlement.lease || site.lease.run !== run || accepted.has(site)) continue;',
        'if (site?.lease?.id !== settlement.lease || (run === "?") || accepted.has(site)) continue;',
      ),
      edit(
        'store/memory/member.ts',
        'if (isLapsed && book.isQuiet()) putInOrder(false);',
        'if (isLapsed) putInOrder(false);',
      ),
    ],
  },
  {
    name: 'rows of pages whose settlement Redis forgot stay',
    seed: 2,
    fault: 'store-goes-back',
    store: 'redis',
    edits: [
      edit(
        'store/redis/put-right.ts',
        'return forgetRows(session, known);',
        'return known.size < 0 ? forgetRows(session, known) : [];',
      ),
    ],
  },
  {
    name: 'links that a shard in Redis forgot are not sent again',
    seed: 3,
    fault: 'store-goes-back',
    store: 'redis',
    edits: [
      edit('store/redis/put-right.ts', 'if (there.length > 0) await session.queue.admit(there, siteWaitingMax);', ''),
    ],
  },
  {
    name: 'after Redis went back sites are visited by the clocks that it remembers',
    seed: 7,
    fault: 'store-goes-back',
    store: 'redis',
    edits: [edit('store/redis/lua/ready.lua', "'floor', num(now)", "'floor', '0'")],
  },
  {
    name: 'after PostgreSQL went back sites are visited by the clocks that it remembers',
    seed: 21,
    fault: 'store-goes-back',
    store: 'postgres',
    edits: [edit('store/postgres/sql/reign.sql', "('floor', @crawl.moment(_at)::text)", "('floor', '0')")],
  },
  {
    name: 'records of settlements that PostgreSQL forgot are not listed',
    seed: 2,
    fault: 'store-goes-back',
    store: 'postgres',
    edits: [
      edit(
        'store/postgres/put-right.ts',
        "if (forgotten.length > 0) session.dead(joinRecords(forgotten.flatMap(({ records }) => records)), 'forgotten');",
        '',
      ),
      edit('store/postgres/put-right.ts', 'import { bytesOf, joinRecords, type', 'import { bytesOf, type'),
    ],
  },
];
