/** Ends leases of one shard. */

import { COUNTERS, IN_STORE, MANY, NEXT, script, type Pieces } from './parts.ts';

/**
 * KEYS count, due, lease, leased, parked, robots, batch
 * ARGV tag, time, member; number of the batch; JSON: a list of settlements, each: site, lease, fate, dueAt, delay,
 * crawl
 *      delay, response time, failures, 1 if parked, outcome (empty if not settled), 1 if a server answered, bytes
 *      archived, origin and its rules (empty for none)
 *      where lines lie in files also: references per site above which they are merged; lines of a full block
 *
 * Answers: next moments; the numbers (from 1) of those that were refused, as text; or -1 for a batch older than the
 * last. The answer to the last batch of a member is remembered: asked again, it is given again, and nothing else
 * happens. Where lines lie in files also: sites with many references.
 */
export const settleScript = ({ line, lease, push, settled, written, answer }: Pieces) =>
  script(
    ['count', 'due', 'lease', 'leased', 'parked', 'robots', 'batch'],
    `
${MANY}${COUNTERS}${NEXT}${line}${lease}${push}
local number = tonumber(ARGV[4])
local last, answer = string.match(redis.call('HGET', batch, member) or '0 ', '^(%d+) (.*)$')
if tonumber(last) > number then answer = '-1' end
if tonumber(last) < number then
  local settlements, sites = cjson.decode(ARGV[5]), {}
  for i, t in ipairs(settlements) do sites[i] = t[1] end
  local texts = readMany(leased, sites)
  local refused, ended, ofMember, dueAgain, rules = {}, {}, {}, {}, {}
  for i, t in ipairs(settlements) do
    local site, fate = t[1], t[3]
    local l = parseLease(texts[i])
    if ended[site] or not l or tonumber(l.id) ~= t[2] or (l.ends and l.ends <= now) then
      refused[#refused + 1] = i
    else
      ended[site] = true
      ended[#ended + 1] = site
      local mine = memberOf(l)
      ofMember[mine] = ofMember[mine] or {}
      table.insert(ofMember[mine], site)
      local key = tag .. 'site:' .. site
      local s = redis.call('HMGET', key, 'w', 'p', 'o')
      local w, p, o = tonumber(s[1]), tonumber(s[2]), tonumber(s[3])
      if fate == 'settled' then
        add('settled:' .. t[10], 1)
        ${settled}
        if t[11] == 1 then
          p = p + 1
          add('pages', 1)
        end
      else
        if fate == 'retry' then
          pushLast(site, blockOf(l, l.tries), w)
        else
          putFirst(site, o, { blockOf(l, l.tries - 1) })
          o = 0
        end
        w = w + 1
        add('waiting', 1)
      end
      if t[13] ~= '' then
        rules[#rules + 1] = t[13]
        rules[#rules + 1] = t[14]
      end
      add('archived', t[12])
      redis.call('HSET', key, 's', t[9] == 1 and 'p' or '', 'w', w, 'p', p, 'd', num(t[4]), 'e', num(t[5]), 'c', num(t[6]), 'r', num(t[7]), 'f', t[8], 'o', o)
      if t[9] == 1 then
        redis.call('SADD', parked, site)
        add('waiting', -w)
        add('parked', w)
        add('sitesParked', 1)
      elseif w > 0 then
        dueAgain[#dueAgain + 1] = num(t[4])
        dueAgain[#dueAgain + 1] = site
      end
    end
  end
  many('HDEL', leased, ended)
  many('ZREM', lease, ended)
  for name, some in pairs(ofMember) do many('SREM', tag .. 'mine:' .. name, some) end
  many('ZADD', due, dueAgain)
  many('HSET', robots, rules)
  add('leased', -#ended)
  if #ended > 0 then add('changes', 1) end
  answer = table.concat(refused, ',')
  redis.call('HSET', batch, member, ARGV[4] .. ' ' .. answer)
  writeCounters()
  ${written}
end
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, answer${answer} }
`,
  );

export const SETTLE = settleScript(IN_STORE);
