/** What the scripts share when lines lie in files: there a line in Redis is a list of references. */

import type { Pieces } from './parts.ts';

/**
 * A reference is `file offset from to`, lines from..to-1 of the block at that offset; then how often they were claimed,
 * if any was: `3` for all, or `;7=1;12=2` by their number in the block. `o` of a site is the next line of its first
 * reference; 0 when none of it is taken.
 */
const FILE_LINE = `
local function readReference(text)
  local file, offset, from, to, tries = string.match(text, '^(%S+) (%S+) (%d+) (%d+) ?(.*)$')
  return file, offset, tonumber(from), tonumber(to), tries
end
local function triesOf(tries, at)
  if string.sub(tries, 1, 1) == ';' then return tonumber(string.match(tries, ';' .. at .. '=(%d+)')) or 0 end
  return tonumber(tries) or 0
end
local function takeFirst(site, o)
  local key = tag .. 'line:' .. site
  local file, offset, from, to, tries = readReference(redis.call('LINDEX', key, 0))
  local at = o > 0 and o or from
  if at + 1 == to then
    redis.call('LPOP', key)
    o = 0
  else
    o = at + 1
  end
  return file .. ' ' .. offset .. ' ' .. at .. ' ' .. triesOf(tries, at), '', o
end
local function countTry(line)
  local place, tries = string.match(line, '^(.*) (%d+)$')
  return place .. ' ' .. (tonumber(tries) + 1), ''
end
local function putFirst(site, o, references)
  local key = tag .. 'line:' .. site
  if o > 0 then
    local file, offset, from, to, tries = readReference(redis.call('LINDEX', key, 0))
    redis.call('LSET', key, 0, file .. ' ' .. offset .. ' ' .. o .. ' ' .. to .. (tries ~= '' and ' ' .. tries or ''))
  end
  for i = #references, 1, -1 do redis.call('LPUSH', key, references[i]) end
end
`;

/** A lease: its number, when it runs out, file, offset, line, tries; an empty line; who holds it. */
const FILE_LEASE = `
local function parseLease(text)
  if not text then return nil end
  local id, ends, file, offset, at, tries, holder = string.match(text, '^(%d+) (%S+) (%S+) (%S+) (%d+) (%d+)\\n\\n(.*)$')
  return { id = id, ends = ends ~= '-' and tonumber(ends) or nil, tries = tonumber(tries), file = file, offset = offset, at = tonumber(at), holder = holder }
end
local function blockOf(l, tries)
  return l.file .. ' ' .. l.offset .. ' ' .. l.at .. ' ' .. (l.at + 1) .. (tries > 0 and ' ' .. tries or '')
end
local function readLease(site) return parseLease(redis.call('HGET', leased, site)) end
local function memberOf(l) return string.match(l.holder, '^[^/]*') end
`;

/**
 * How many lines of each file are referred to, from lines of sites, leases and links given up: a file without is
 * deleted.
 */
export const FILES = `
local files, referred = tag .. 'files', {}
-- false for an opening before the last; a server that was set back to a state before this one learns of it again
local function isOpenAs(opening)
  local last = redis.call('HGET', files, 'opening')
  if last == opening then return true end
  if last and tonumber(last) > tonumber(opening) then return false end
  redis.call('HSET', files, 'opening', opening)
  return true
end
local function refer(file, lines) referred[file] = (referred[file] or 0) + lines end
local function writeFiles()
  for file, lines in pairs(referred) do
    if lines ~= 0 and redis.call('HINCRBY', files, file, lines) == 0 then redis.call('HDEL', files, file) end
  end
end
`;

/** Sites whose references should be merged; a script with \`mergeAbove\` and \`blockLines\`. */
export const LONG = `
local long = {}
local function notice(site, references, w)
  if references > mergeAbove + 4 * w / blockLines then long[#long + 1] = site end
end
`;

/** What the scripts of the verbs need to know of references. */
export const IN_FILES: Pieces & { readonly line: string } = {
  line: FILE_LINE,
  lease: FILE_LEASE,
  push: `
local mergeAbove, blockLines = tonumber(ARGV[6]), tonumber(ARGV[7])
${FILES}${LONG}
local function pushLast(site, reference, w) notice(site, redis.call('RPUSH', tag .. 'line:' .. site, reference), w) end
`,
  settled: 'refer(l.file, -1)',
  written: 'writeFiles()',
  answer: ', long',
};
