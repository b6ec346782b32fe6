-- Fills one shard of a crawl that comes from another store. To take may not be repeated.
--
-- keys: count due filling parked held robots rules sites
-- args: `begin`, `take` or `end`; token of this filling; to take, as JSON: `sites`, each: name, state, pages, dueAt,
--       delay, crawl delay, response time, failures; `runs` of links as `admit` takes them; `prints`: fingerprints of
--       settled URLs; `robots`: origin and record in turn; `rules`: digest and text of
--       long rules in turn; `counts`: what is added to counters; `by`: settled
--       links by member
-- answer: `done`; `overtaken` when another filling has begun meanwhile; or a site that has links, but did not come, in
--         second place
-- uses: many counters queue-store know grow batch replication
local phase, token = ARGV[4], ARGV[5]
if phase == 'begin' then
  redis.call('SET', filling, token)
  return { 'done' }
end
if redis.call('GET', filling) ~= token then return { phase == 'end' and 'done' or 'overtaken' } end
if phase == 'end' then
  redis.call('DEL', filling)
  redis.call('HSET', count, 'server', replicationId())
  return { 'done' }
end
local given, names, known = cjson.decode(ARGV[6]), {}, 0
for i, t in ipairs(given.sites) do
  local name, state = t[1], tostring(t[2])
  redis.call('HSET', tag .. 'site:' .. name, 's', state, 'w', 0, 'p', t[3],
    'd', num(t[4]), 'e', num(t[5]), 'c', num(t[6]), 'r', num(t[7]), 'f', t[8], 'o', 0)
  names[i] = name
  if not string.find(name, ' ', 1, true) then known = known + 1 end -- a queue beside a site is none
  if state == PARKED or state == HELD then
    redis.call('SADD', state == PARKED and parked or held, name)
    if state == PARKED then add('sitesParked', 1)
    elseif not string.find(name, ' ', 1, true) then add('sitesHeld', 1) end
  end
end
many('RPUSH', sites, names)
add('sites', known)
for i = 1, #given.runs, 3 do
  local name, via = given.runs[i], given.runs[i + 1]
  if name ~= site then
    close()
    open(name)
    if not s.state then return { 'unknown', name } end
  end
  for print, text in string.gmatch(given.runs[i + 2], '(%S+) %d ([^\n]+)\n') do
    know(print)
    s.w = s.w + 1
    pack(s.tail, via, text)
  end
end
close()
writeSites()
for print in string.gmatch(given.prints, '%S+') do know(print) end
many('HSET', rules, given.rules)
many('HSET', robots, given.robots)
for name, n in pairs(given.counts) do add(name, n) end
for name, n in pairs(given.by) do
  local b = readBatch(name)
  b.settled = b.settled + n
  writeBatch(name, b)
end
putSizes()
writeCounters()
return { 'done' }
