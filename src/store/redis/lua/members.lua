-- All members, for those who only look.
--
-- keys: members about
-- args: none
-- answer: the time; member and its record in turn; member and what it says of itself in turn
-- flags: no-writes
return { num(now), redis.call('HGETALL', members), redis.call('HGETALL', about) }
