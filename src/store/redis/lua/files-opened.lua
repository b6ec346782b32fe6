-- Begins an opening of the files that waiting links lie in: what an earlier one still has on its way is refused from
-- here on.
--
-- keys: files
-- args: the number of this opening
-- answer: file and number of links referred to, in turn; among them `opening` and its number
redis.call('HSET', files, 'opening', ARGV[4])
return redis.call('HGETALL', files)
