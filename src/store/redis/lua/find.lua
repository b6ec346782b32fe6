-- Reads a part of the queue of a site, with what is known of the site and of a URL.
--
-- keys: count leased
-- args: site; fingerprint of the URL; the element of the queue to begin with (0 first); how many
-- counts: buckets seen
-- answer: the view of the site; 1 if the URL is known; the elements
-- flags: no-writes
-- uses: view seen
local from, n = tonumber(ARGV[6]), tonumber(ARGV[7])
local elements = n > 0 and redis.call('LRANGE', queueOf(ARGV[4]), from, from + n - 1) or {}
return { viewOf(ARGV[4]), isKnown(ARGV[5]) and 1 or 0, elements }
