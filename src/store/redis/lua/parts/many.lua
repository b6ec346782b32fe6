-- A command costs more than a member of it: what can be done for many at once is.
local function many(command, key, list)
  -- as many as Lua can pass on; even, so that pairs stay together
  for i = 1, #list, 1000 do redis.call(command, key, unpack(list, i, math.min(i + 999, #list))) end
end
local function readMany(key, fields)
  local values = {}
  for i = 1, #fields, 1000 do
    for _, value in ipairs(redis.call('HMGET', key, unpack(fields, i, math.min(i + 999, #fields)))) do
      values[#values + 1] = value
    end
  end
  return values
end
