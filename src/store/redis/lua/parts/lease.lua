-- A lease as it is written: its id and when it runs out (- for never); who holds it; where its link was found; the link
-- as it was taken from its queue, this claim counted. The id is the run of the member that made it, a dot, a number.
local function writeLease(id, ends, holder, via, text)
  return id .. ' ' .. ends .. '\n' .. holder .. '\n' .. via .. '\n' .. text
end
-- nil for none, or for a text that is no lease
local function readLease(written)
  local pattern = '^(%S+)%.(%d+) (%S+)\n([^\n]*)\n([^\n]*)\n(.+)$'
  local run, number, ends, holder, via, text = string.match(written or '', pattern)
  if not run then return nil end
  return { run = run, number = number, id = run .. '.' .. number, ends = tonumber(ends), holder = holder, via = via,
    text = text }
end
