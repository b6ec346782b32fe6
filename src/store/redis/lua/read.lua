-- Reads, all at one moment.
--
-- keys: * one for each command
-- args: for each command, as JSON: its name, then what follows its key
-- answer: that of each command
-- flags: no-writes
local answers = {}
for i, key in ipairs(KEYS) do
  local command = cjson.decode(ARGV[3 + i])
  table.insert(command, 2, key)
  answers[i] = redis.call(unpack(command))
end
return answers
