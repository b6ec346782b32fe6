-- Sites of one shard for those who only look.
--
-- keys: leased
-- args: their names
-- answer: the view of each
-- flags: no-writes
-- uses: view
local views = {}
for i = 4, #ARGV do views[i - 3] = viewOf(ARGV[i]) end
return views
