-- Keeps the text of long rules, before a record names it. May be repeated.
--
-- keys: rules
-- args: digest; text
-- answer: nothing
redis.call('HSET', rules, ARGV[4], ARGV[5])
