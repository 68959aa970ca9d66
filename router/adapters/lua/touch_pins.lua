-- Notes that pins are in use which routers answered from memory, and says which of them are not as they believe.
-- Returns the epoch, then per wrong one its place, and what is true instead where there is a pin.
-- ARGV from 3: session, replica and generation of each.
local answers = { redis.call('GET', EPOCH) or '' }
for i = 3, #ARGV, 3 do
  local pin = stored(ARGV[i])
  if pin then touch(pin) end
  if not pin then
    table.insert(answers, { (i - 3) / 3 })
  elseif pin.replica ~= ARGV[i + 1] or pin.generation ~= tonumber(ARGV[i + 2]) then
    table.insert(answers, { (i - 3) / 3, unpack(answer(pin)) })
  end
end
return answers
