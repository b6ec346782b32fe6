-- A lease as it is written: its number and when it runs out (- for never); who holds it; where its link was found; the
-- link as it was taken from its queue, this claim counted.
local function writeLease(id, ends, holder, via, text)
  return id .. ' ' .. ends .. '\n' .. holder .. '\n' .. via .. '\n' .. text
end
-- nil for none, or for a text that is no lease
local function readLease(written)
  local id, ends, holder, via, text = string.match(written or '', '^(%d+) (%S+)\n([^\n]*)\n([^\n]*)\n(.+)$')
  if not id then return nil end
  return { id = id, ends = tonumber(ends), holder = holder, via = via, text = text }
end
