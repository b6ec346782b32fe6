/** What people read of one shard: its sites, and where a link is. */

import { script } from './parts.ts';
import { SEEN } from './seen.ts';

/**
 * A site for people; a script with the key `leased`. A URL; or, where lines lie in files: file, offset, line, tries.
 */
const VIEW = `
local function firstOf(site, o)
  local block = redis.call('LINDEX', tag .. 'line:' .. site, 0)
  if not block then return '' end
  local viaEnds = string.find(block, '\\n', 1, true)
  if viaEnds then return string.match(block, '^%S+ %S+ %S+ %S+ ([^\\n]*)', o > 0 and o or viaEnds + 1) or '' end
  local place, from = string.match(block, '^(%S+ %S+) (%d+)')
  return place and place .. ' ' .. (o > 0 and o or from) .. ' 0' or ''
end
local function urlOf(lease)
  return string.match(lease, '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\\n]*)') or string.match(lease, '^%S+ %S+ (%S+ %S+ %S+ %S+)\\n') or ''
end
-- state, waiting, pages, dueAt, delay, crawl delay, failures; the URL under visit, and the one that is first in line
local function viewOf(site)
  local s = redis.call('HMGET', tag .. 'site:' .. site, 's', 'w', 'p', 'd', 'e', 'c', 'f', 'o')
  if not s[1] then return {} end
  local url = urlOf(redis.call('HGET', leased, site) or '')
  return { site, s[1], s[2], s[3], s[4], s[5], s[6], s[7], url, firstOf(site, tonumber(s[8])) }
end
`;

/** KEYS leased. ARGV tag, time, member; site. Answers: its view; empty when it is not known. */
export const SITE = script(
  ['leased'],
  `
${VIEW}
return viewOf(ARGV[4])
`,
  'no-writes',
);

/**
 * KEYS sites, leased. ARGV tag, time, member; where to begin in the list of all sites; how many to look at; only those
 * with this text in
 *      their name. Answers: how many were looked at; their views.
 */
export const SITES = script(
  ['sites', 'leased'],
  `
${VIEW}
local from, views = tonumber(ARGV[4]), {}
local names = redis.call('LRANGE', sites, from, from + tonumber(ARGV[5]) - 1)
for _, name in ipairs(names) do
  if string.find(name, ARGV[6], 1, true) then views[#views + 1] = viewOf(name) end
end
return { #names, views }
`,
  'no-writes',
);

/**
 * KEYS sites. ARGV tag, time, member; where to begin; how many to look at; text. Answers: how many were looked at; how
 * many have it in their name.
 */
export const SITES_NAMED = script(
  ['sites'],
  `
local from, n = tonumber(ARGV[4]), 0
local names = redis.call('LRANGE', sites, from, from + tonumber(ARGV[5]) - 1)
for _, name in ipairs(names) do
  if string.find(name, ARGV[6], 1, true) then n = n + 1 end
end
return { #names, n }
`,
  'no-writes',
);

/**
 * KEYS count, leased. ARGV tag, time, member; site; URL; its fingerprint; blocks at the most; block of the line to
 * begin with (0 first).
 *
 * Answers: the view of the site; its lease as it is written, or empty; 1 if the URL is known; where it was found and
 * the link as in the block, if it is in one of these blocks; links looked at, that one included; 1 if there are blocks
 * behind these, 2 if the line lies in files.
 */
export const LINK = script(
  ['count', 'leased'],
  `
${VIEW}${SEEN}
local site, url, print, most, from = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local view = viewOf(site)
local lease = redis.call('HGET', leased, site) or ''
local known = redis.call('SISMEMBER', bucketOf(print), print)
local key, looked = tag .. 'line:' .. site, 0
local o = from == 0 and tonumber(redis.call('HGET', tag .. 'site:' .. site, 'o')) or 0
local ending = ' ' .. url .. '\\n'
local last = math.min(redis.call('LLEN', key), from + most) - 1
for i = from, last, 50 do
  for _, block in ipairs(redis.call('LRANGE', key, i, math.min(i + 49, last))) do
    local viaEnds = string.find(block, '\\n', 1, true)
    if not viaEnds then return { view, lease, known, {}, 0, 2 } end
    local at = o > 0 and o or viaEnds + 1
    local found = string.find(block, ending, at, true)
    while at <= #block do
      local to = string.find(block, '\\n', at, true) or #block
      looked = looked + 1
      if found and found < to then
        return { view, lease, known, { string.sub(block, 1, viaEnds - 1), string.sub(block, at, to - 1) }, looked, 0 }
      end
      at = to + 1
    end
    o = 0
  end
end
return { view, lease, known, {}, looked, redis.call('LLEN', key) > from + most and 1 or 0 }
`,
  'no-writes',
);

/** KEYS robots. ARGV tag, time, member; origin. Answers: its rules, or nil. */
export const RULES_OF = script(
  ['robots'],
  `
return redis.call('HGET', robots, ARGV[4])
`,
  'no-writes',
);
