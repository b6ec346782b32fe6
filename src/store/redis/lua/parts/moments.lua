-- The next moments, with which the answer of a verb begins: the time; when the next site is due, and when the next
-- lease runs out (- for never); how often the shard changed; + where this member may work, ! where the shard went back
-- in time, ? where that was not asked.
-- uses: counters
local function answerOf(dueAt, endsAt, state)
  return num(now) .. ' ' .. dueAt .. ' ' .. endsAt .. ' ' .. (countOf('changes') or '0') .. ' ' .. (state or '?')
end
local function moments(state)
  local site = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
  local ends = redis.call('ZRANGE', lease, 0, 0, 'WITHSCORES')
  return answerOf(site[2] or '-', ends[2] or '-', state)
end
-- For a verb that only makes sites due: with ~ before it, the earliest of those; nothing else is looked at.
local function momentsAfter(state, dueAgain)
  local first = math.huge
  for i = 1, #dueAgain, 2 do first = math.min(first, tonumber(dueAgain[i])) end
  return answerOf('~' .. (first < math.huge and num(first) or '-'), '~', state)
end
