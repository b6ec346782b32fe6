-- The next moments, with which the answer of a verb begins: the time, when the next site is due, and when the next
-- lease runs out (empty for never).
local function moments()
  local site = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
  local ends = redis.call('ZRANGE', lease, 0, 0, 'WITHSCORES')
  return num(now), site[2] or '', ends[2] or ''
end
