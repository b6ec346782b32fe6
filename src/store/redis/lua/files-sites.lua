-- Finds sites of one shard whose queue refers to some files.
--
-- keys: sites
-- args: the place in the list of sites to begin at; how many sites to look at; files
-- answer: how many sites there were; those that have a reference to one of these files
-- flags: no-writes
-- uses: queue-files
local wanted, found = {}, {}
for i = 6, #ARGV do wanted[ARGV[i]] = true end
local names = redis.call('LRANGE', sites, ARGV[4], ARGV[4] + ARGV[5] - 1)
for _, site in ipairs(names) do
  for _, reference in ipairs(redis.call('LRANGE', queueOf(site), 0, -1)) do
    if wanted[readReference(reference)] then
      found[#found + 1] = site
      break
    end
  end
end
return { #names, found }
