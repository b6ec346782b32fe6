-- A member as it is written: its place in the order in which they came; when it was heard last; its runs that may have
-- leases, with commas between them; 1 when these were freed because it died.
local function writeMember(place, seenAt, runs, freed)
  return place .. ' ' .. num(seenAt) .. ' ' .. runs .. ' ' .. freed
end
local function readMember(written)
  local place, seenAt, runs, freed = string.match(written or '', '^(%d+) (%S+) (%S+) (%d)$')
  return place and { place = place, seenAt = tonumber(seenAt), runs = runs, freed = freed }
end
