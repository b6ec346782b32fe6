-- The text of a waiting link, `depth hops marks tries url` (src/store/waiting-text.ts): nothing else in Lua looks
-- inside.
local WAITING_TEXT = '^(%d+ %d+ %d+ )(%d+) (%a+://[^/?#]+)(.*)$'
-- the text with so many tries more, its tries then, and the origin of its URL
local function countTry(text, more)
  local before, tries, origin, rest = string.match(text, WAITING_TEXT)
  tries = tonumber(tries) + more
  return before .. tries .. ' ' .. origin .. rest, tries, origin
end
