-- Takes links that were given up off the list: their rows are written.
--
-- keys: gone:<member>
-- args: the links as they are on the list
-- answer: nothing
-- uses: queue
for i = 4, #ARGV do
  if redis.call('LREM', gone, 1, ARGV[i]) == 1 then letGo(string.match(ARGV[i], '[^\n]*$')) end
end
writeQueues()
return ''
