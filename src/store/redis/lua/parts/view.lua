-- A site for those who only look; empty for one that is not known. Its name, state, waiting, pages, dueAt, delay, crawl
-- delay, response time, failures, `o`; its lease as it is written (or empty); the first link of its queue and where it
-- was found (or empty); elements of its queue.
-- uses: queue
local function viewOf(site)
  local view = redis.call('HMGET', tag .. 'site:' .. site, 's', 'w', 'p', 'd', 'e', 'c', 'r', 'f', 'o')
  if not view[1] then return {} end
  local text, via = first(site, tonumber(view[9]) or 0)
  table.insert(view, 1, site)
  view[11] = redis.call('HGET', leased, site) or ''
  view[12], view[13], view[14] = text, via, redis.call('LLEN', queueOf(site))
  return view
end
