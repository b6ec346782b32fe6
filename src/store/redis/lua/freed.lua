-- Notes that the leases of a dead member are freed, unless it was heard meanwhile.
--
-- keys: members
-- args: the member; its record, as it was written then
-- answer: nothing
if redis.call('HGET', members, ARGV[4]) == ARGV[5] then
  redis.call('HSET', members, ARGV[4], string.sub(ARGV[5], 1, -2) .. '1')
end
return ''
