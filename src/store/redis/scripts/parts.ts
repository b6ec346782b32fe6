/** What the scripts share: how one is written, and the steps that several of them take. */

import type { KeyName } from '../keys.ts';

/**
 * One atomic step on one shard. `keys` are its KEYS, in order, and become local names in it. Its first three arguments
 * are always the tag of the shard, from which it derives the keys of sites (the tag makes that legal on a cluster), the
 * time (empty for the server's own) and the member.
 */
export interface Script {
  readonly keys: readonly KeyName[];
  readonly lua: string;
}

/**
 * With the shebang a script is refused before its first step when memory is full, and never stops half-way. `no-writes`
 * may also run then.
 */
export const script = (keys: readonly KeyName[], body: string, flags: 'no-writes' | '' = ''): Script => ({
  keys,
  lua: [
    `#!lua${flags ? ` flags=${flags}` : ''}`,
    ...keys.map((name, i) => `local ${name} = KEYS[${i + 1}]`),
    BEGIN,
    body,
  ].join('\n'),
});

const BEGIN = `
local tag, now, member = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
-- Lua would write 14 digits; 17 are read back as the same number
local function num(x) return string.format('%.17g', x) end
`;

/** A command costs more than a member of it: what can be done for many sites at once is. */
export const MANY = `
local function many(command, key, list)
  -- as many as Lua can pass on; even, so that pairs stay together
  for i = 1, #list, 1000 do redis.call(command, key, unpack(list, i, math.min(i + 999, #list))) end
end
local function readMany(key, fields)
  local values = {}
  for i = 1, #fields, 1000 do
    for _, value in ipairs(redis.call('HMGET', key, unpack(fields, i, math.min(i + 999, #fields)))) do values[#values + 1] = value end
  end
  return values
end
`;

/** Counters are changed once, at the end of a script. */
export const COUNTERS = `
local changed = {}
local function add(field, n) changed[field] = (changed[field] or 0) + n end
local function writeCounters()
  for field, n in pairs(changed) do
    if n ~= 0 then redis.call('HINCRBY', count, field, n) end
  end
end
`;

/**
 * With these three every answer begins: the time, when the next site is due, when the next lease runs out (empty for
 * never).
 */
export const NEXT = `
local function moments()
  local site = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
  local ends = redis.call('ZRANGE', lease, 0, 0, 'WITHSCORES')
  return num(now), site[2] or '', ends[2] or ''
end
`;

/**
 * A line is a list of blocks: where its links were found, then one link a line (depth, hops, marks, tries, address).
 * \`o\` of its site is where in the first block the next link begins; 0 when that is unread.
 */
export const LINE = `
local function takeFirst(site, o)
  local key = tag .. 'line:' .. site
  local block = redis.call('LINDEX', key, 0)
  local viaEnds = string.find(block, '\\n', 1, true)
  local from = o > 0 and o or viaEnds + 1
  local to = string.find(block, '\\n', from, true)
  if to == #block then
    redis.call('LPOP', key)
    o = 0
  else
    o = to + 1
  end
  return string.sub(block, from, to - 1), string.sub(block, 1, viaEnds - 1), o
end
-- the line with one try more, and the origin of its address
local function countTry(line)
  local depth, hops, marks, tries, url = string.match(line, '^(%S+) (%S+) (%S+) (%S+) (.*)$')
  return depth .. ' ' .. hops .. ' ' .. marks .. ' ' .. (tonumber(tries) + 1) .. ' ' .. url, string.match(url, '^%a+://[^/?#]+') or ''
end
-- the first block forgets what is read of it: \`o\` will speak of another
local function putFirst(site, o, blocks)
  local key = tag .. 'line:' .. site
  if o > 0 then
    local block = redis.call('LINDEX', key, 0)
    redis.call('LSET', key, 0, string.sub(block, 1, string.find(block, '\\n', 1, true)) .. string.sub(block, o))
  end
  for i = #blocks, 1, -1 do redis.call('LPUSH', key, blocks[i]) end
end
`;

/**
 * A lease as it is written: its number, when it runs out (- for never), its link; where that was found; who holds it.
 */
export const LEASE = `
local function parseLease(text)
  if not text then return nil end
  local id, ends, depth, hops, marks, tries, url, via, holder =
    string.match(text, '^(%d+) (%S+) (%S+) (%S+) (%S+) (%S+) ([^\\n]*)\\n([^\\n]*)\\n(.*)$')
  return {
    id = id, ends = ends ~= '-' and tonumber(ends) or nil, tries = tonumber(tries), via = via, url = url, holder = holder,
    before = depth .. ' ' .. hops .. ' ' .. marks .. ' ',
  }
end
local function blockOf(l, tries) return l.via .. '\\n' .. l.before .. tries .. ' ' .. l.url .. '\\n' end
local function readLease(site) return parseLease(redis.call('HGET', leased, site)) end
local function memberOf(l) return string.match(l.holder, '^[^/]*') end
`;

/** What differs with where lines lie: how they and leases are written, and what a settlement does beside. */
export interface Pieces {
  readonly line: string;
  readonly lease: string;
  /** Defines `pushLast(site, block, w)`. */
  readonly push: string;
  /** Done for each link that is settled, once for all of them, and added to the answer. */
  readonly settled: string;
  readonly written: string;
  readonly answer: string;
}

/** Lines lie in Redis. */
export const IN_STORE: Pieces = {
  line: LINE,
  lease: LEASE,
  push: `
local function pushLast(site, block) redis.call('RPUSH', tag .. 'line:' .. site, block) end
`,
  settled: '',
  written: '',
  answer: '',
};

/**
 * Free a lease: its link waits again, at the head, and its site a full delay from \`at\`. With \`claimsMax\` tries
 * behind it the link is given up instead, and put on the list of the member that must write its row.
 */
export const FREE = `
local given = {}
local function freeLease(site, l, how)
  redis.call('HDEL', leased, site)
  redis.call('ZREM', lease, site)
  redis.call('SREM', tag .. 'mine:' .. memberOf(l), site)
  add('leased', -1)
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 'w', 'e', 'o')
  local w, o = tonumber(s[1]), tonumber(s[3])
  if how.counted and l.tries >= how.claimsMax then
    add('settled:gave-up', 1)
    local text = site .. '\\n' .. num(how.at) .. '\\n' .. blockOf(l, l.tries)
    redis.call('RPUSH', gone, text)
    given[#given + 1] = text
  else
    putFirst(site, o, { blockOf(l, how.counted and l.tries or l.tries - 1) })
    w, o = w + 1, 0
    add('waiting', 1)
  end
  local dueAt = num(how.at + tonumber(s[2]))
  redis.call('HSET', key, 's', '', 'w', w, 'd', dueAt, 'o', o)
  if w > 0 then redis.call('ZADD', due, dueAt, site) end
end
`;
