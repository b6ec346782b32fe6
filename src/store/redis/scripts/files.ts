/** The steps of a frontier in files: they count lines and keep references, and never see a link. */

import { GROW } from './admit.ts';
import { FILES, IN_FILES, LONG } from './file-parts.ts';
import { COUNTERS, MANY, NEXT, script } from './parts.ts';
import { KNOW, SEEN } from './seen.ts';

/**
 * KEYS meta. ARGV tag, time, member; where the lines of this crawl lie: `store` or `files`; 1 to bind it if that is not
 * fixed. Answers: where they lie, and the member that has the files; empty when that is not fixed.
 */
export const BIND = script(
  ['meta'],
  `
if ARGV[5] == '1' then
  redis.call('HSETNX', meta, 'frontier', ARGV[4])
  if redis.call('HGET', meta, 'frontier') == 'files' then redis.call('HSETNX', meta, 'filesOf', member) end
end
local is = redis.call('HMGET', meta, 'frontier', 'filesOf')
return { is[1] or '', is[2] or '' }
`,
);

/** KEYS count. ARGV tag, time, member. Answers: 1 for a shard that has links, but was never opened with files. */
export const IS_ELSEWHERE = script(
  ['count'],
  `
return redis.call('HEXISTS', tag .. 'files', 'opening') == 0 and redis.call('EXISTS', count) == 1 and 1 or 0
`,
  'no-writes',
);

/**
 * KEYS files. ARGV tag, time, member; the number of this opening (empty to look only): what an earlier one still has on
 * its way is refused from here on. Answers: file and number of lines referred to, in turn; among them \`opening\` and
 * its number.
 */
export const FILES_OF = script(
  ['files'],
  `
if ARGV[4] ~= '' then redis.call('HSET', tag .. 'files', 'opening', ARGV[4]) end
return redis.call('HGETALL', tag .. 'files')
`,
);

/**
 * KEYS count, due, lease
 * ARGV tag, time, member; links that may wait per site (empty for any number); then for each site: its name; a line per
 * link:
 *      fingerprint, 1 if it goes first
 *
 * Answers: next moments; for each site a character per link: + is to be taken, = is known, - is over what may wait.
 */
export const PLAN = script(
  ['count', 'due', 'lease'],
  `
${NEXT}${SEEN}
local most = tonumber(ARGV[4]) or math.huge
local plans, taken = {}, {}
for i = 5, #ARGV, 2 do
  local w = tonumber(redis.call('HGET', tag .. 'site:' .. ARGV[i], 'w')) or 0
  local plan = {}
  for print, first in string.gmatch(ARGV[i + 1], '(%S+) (%d)\\n') do
    local fate = '+'
    if taken[print] or redis.call('SISMEMBER', bucketOf(print), print) == 1 then
      fate = '='
    elseif first == '0' and w >= most then
      fate = '-'
    else
      taken[print] = true
      w = w + 1
    end
    plan[#plan + 1] = fate
  end
  plans[#plans + 1] = table.concat(plan)
end
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, plans }
`,
  'no-writes',
);

/**
 * KEYS count, due, lease
 * ARGV tag, time, member; number of the opening; references per site above which they are merged; lines of a full
 * block; links that
 *      are forgotten; then for each site: its name; fingerprints; references of what goes first; references of the
 * others, a line each
 *
 * Answers: next moments; 1 when it is done, 0 when one of them is known by now, -1 for an earlier opening, and then
 * nothing happened; sites with many references.
 */
export const ADMIT_FILES = script(
  ['count', 'due', 'lease'],
  `
${MANY}${COUNTERS}${IN_FILES.line}${NEXT}${SEEN}${KNOW}${FILES}
local opening, mergeAbove, blockLines, forgotten = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
${LONG}
local function answer(done)
  local at, dueAt, endsAt = moments()
  return { at, dueAt, endsAt, done, long }
end
if not isOpenAs(opening) then return answer(-1) end
for i = 9, #ARGV, 4 do
  for print in string.gmatch(ARGV[i], '%S+') do
    if redis.call('SISMEMBER', bucketOf(print), print) == 1 then return answer(0) end
  end
end

local function texts(references) return references end
${GROW}
local function put(to, text)
  for reference in string.gmatch(text, '[^\\n]+') do
    local file, _, from, ends = readReference(reference)
    refer(file, ends - from)
    to[#to + 1] = reference
  end
end
for i = 8, #ARGV, 4 do
  open(ARGV[i])
  for print in string.gmatch(ARGV[i + 1], '%S+') do
    know(print)
    s.w = s.w + 1
  end
  put(s.head, ARGV[i + 2])
  put(s.tail, ARGV[i + 3])
  close()
  notice(site, redis.call('LLEN', tag .. 'line:' .. site), s.w)
end
writeFound()
add('forgotten', forgotten)
add('changes', 1)
writeCounters()
writeFiles()
if #ARGV >= 8 then writeSizes() end
return answer(1)
`,
);

/** KEYS robots. ARGV tag, time, member; origins. Answers: the rules of each, or an empty text. */
export const RULES = script(
  ['robots'],
  `
${MANY}
local rules = readMany(robots, { unpack(ARGV, 4) })
for i = 1, #rules do rules[i] = rules[i] or '' end
return rules
`,
  'no-writes',
);

/**
 * KEYS files. ARGV tag, time, member; site. Answers: the next line of its first reference (0 for its own); its
 * references.
 */
export const REFERENCES = script(
  ['files'],
  `
return { tonumber(redis.call('HGET', tag .. 'site:' .. ARGV[4], 'o')) or 0, redis.call('LRANGE', tag .. 'line:' .. ARGV[4], 0, -1) }
`,
  'no-writes',
);

/**
 * KEYS files. ARGV tag, time, member; number of the opening; site; the next line of its first reference if that is
 * among those replaced (empty otherwise); how many are; these, as they lie in its line one after the other; then those
 * to stand for them.
 *
 * Answers: 1 when it is done; 0 when they do not lie so any more, and then nothing happened.
 */
export const REPLACE = script(
  ['files'],
  `
${MANY}${IN_FILES.line}${FILES}
local site, o, n = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
if not isOpenAs(ARGV[4]) then return 0 end
local key = tag .. 'line:' .. site
local was = redis.call('LRANGE', key, 0, -1)
local at
for i, reference in ipairs(was) do
  if reference == ARGV[8] then
    at = i
    break
  end
end
-- the first one only by its name, since what is left of it is said elsewhere
if not at or (at == 1) ~= (o ~= nil) then return 0 end
if o and (tonumber(redis.call('HGET', tag .. 'site:' .. site, 'o')) or 0) ~= o then return 0 end
local new = {}
for i = 1, at - 1 do new[i] = was[i] end
for i = 1, n do
  local reference = was[at + i - 1]
  if reference ~= ARGV[7 + i] then return 0 end
  local file, _, from, to = readReference(reference)
  refer(file, (i == 1 and o and o > 0 and o or from) - to)
end
for i = 8 + n, #ARGV do
  local file, _, from, to = readReference(ARGV[i])
  refer(file, to - from)
  new[#new + 1] = ARGV[i]
end
for i = at + n, #was do new[#new + 1] = was[i] end
redis.call('DEL', key)
many('RPUSH', key, new)
if o then redis.call('HSET', tag .. 'site:' .. site, 'o', 0) end
writeFiles()
return 1
`,
);

/**
 * KEYS files. ARGV tag, time, member; from which site on, and how many; files.
 * Answers: how many sites there were; those that have a reference into one of these files.
 */
export const SITES_IN = script(
  ['files'],
  `
local wanted, found = {}, {}
for i = 6, #ARGV do wanted[ARGV[i]] = true end
local sites = redis.call('LRANGE', tag .. 'sites', ARGV[4], ARGV[4] + ARGV[5] - 1)
for _, site in ipairs(sites) do
  for _, reference in ipairs(redis.call('LRANGE', tag .. 'line:' .. site, 0, -1)) do
    if wanted[string.match(reference, '^%S+')] then
      found[#found + 1] = site
      break
    end
  end
end
return { #sites, found }
`,
  'no-writes',
);

/** KEYS gone. ARGV tag, time, member; a link given up whose row is written: its line is not needed any more. */
export const WRITTEN_FILES = script(
  ['gone'],
  `
${FILES}
if redis.call('LREM', gone, 1, ARGV[4]) == 1 then refer(string.match(ARGV[4], '\\n(%w+) [^\\n]*$'), -1) end
writeFiles()
return ''
`,
);
