-- Ends leases of one shard. The answer to the last batch of a member is remembered: asked again, it is given again, and
-- nothing else happens.
--
-- keys: count due lease leased parked held robots
-- args: epoch and changes of the shard (parts/server.lua); number of the batch; JSON: settlements, each a list: site,
--       lease, fate, dueAt, delay, crawl delay, response time, failures, 1 if parked, outcome (empty if not settled),
--       1 if a server answered, bytes archived, origin and its record (empty for none), another queue that the link
--       goes to, as `move` takes it (nothing for none)
-- counts: server epoch changes leased waiting pages archived settled:fetched
-- answer: the next moments; the numbers (from 1) of those that were refused; -1 for a batch older than the last; -2
--         where this member may not work now, and then nothing happened; queues that grew at their end, each: site,
--         elements, links
-- uses: server many counters moments queue lease move batch
local number, grown, dueAgain, moved = tonumber(ARGV[5]), {}, {}, false
local last = readBatch(member)
local answer = last.number > number and '-1' or last.refused
if last.number < number and not isOpen then
  answer = '-2'
elseif last.number < number then
  local settlements, sites = cjson.decode(ARGV[6]), {}
  for i, t in ipairs(settlements) do sites[i] = t[1] end
  local leases = readMany(leased, sites)
  local refused, ended, rules, moves = {}, {}, {}, {}
  for i, t in ipairs(settlements) do
    local site, fate, isParked = t[1], t[3], t[9] == 1
    local l = readLease(leases[i])
    if ended[site] or not l or l.id ~= t[2] or (l.ends and l.ends <= now) then
      refused[#refused + 1] = i
    else
      ended[site] = true
      ended[#ended + 1] = site
      local key = tag .. 'site:' .. site
      local s = redis.call('HMGET', key, 'w', 'p', 'o')
      local w, p, o = tonumber(s[1]), tonumber(s[2]), tonumber(s[3])
      if fate == 'settled' then
        add('settled:' .. t[10], 1)
        last.settled = last.settled + 1
        letGo(l.text)
        if t[11] == 1 then
          p = p + 1
          add('pages', 1)
        end
      elseif t[15] then
        moves[#moves + 1] = { t[15], elementOf(countTry(l.text, -1), l.via) }
      else
        w = w + 1
        add('waiting', 1)
        if fate == 'retry' then
          grown[#grown + 1] = { site, redis.call('RPUSH', queueOf(site), elementOf(l.text, l.via)), w }
        else
          putFirst(site, o, { elementOf(countTry(l.text, -1), l.via) })
          o = 0
        end
      end
      if t[13] ~= '' then
        rules[#rules + 1] = t[13]
        rules[#rules + 1] = t[14]
      end
      add('archived', t[12])
      redis.call('HSET', key, 's', isParked and PARKED or w > 0 and WAITING or IDLE, 'w', w, 'p', p,
        'd', num(t[4]), 'e', num(t[5]), 'c', num(t[6]), 'r', num(t[7]), 'f', t[8], 'o', o)
      if isParked then
        redis.call('SADD', parked, site)
        add('waiting', -w)
        add('parked', w)
        add('sitesParked', 1)
      elseif w > 0 then
        dueAgain[#dueAgain + 1] = num(t[4])
        dueAgain[#dueAgain + 1] = site
      end
    end
  end
  many('HDEL', leased, ended)
  many('ZREM', lease, ended)
  many('ZADD', due, dueAgain)
  many('HSET', robots, rules)
  -- when all leases of the batch have ended: the other queue may have been one of them
  for _, move in ipairs(moves) do
    local to, element = move[1], move[2]
    local w, dueAt = moveLink(to, element)
    moved = true
    if dueAt then
      dueAgain[#dueAgain + 1] = dueAt
      dueAgain[#dueAgain + 1] = to[1]
    end
    if to[2] ~= 1 then grown[#grown + 1] = { to[1], redis.call('LLEN', queueOf(to[1])), w } end
  end
  add('leased', -#ended)
  if #ended > 0 then add('changes', 1) end
  answer = table.concat(refused, ',')
  last.number, last.refused = number, answer
  writeBatch(member, last)
  writeCounters()
  writeQueues()
end
-- a queue that a link was moved to may be parked by that, and not be due any more
return { moved and moments(state) or momentsAfter(state, dueAgain), answer, grown }
